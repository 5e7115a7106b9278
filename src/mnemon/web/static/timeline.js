// The slider below the picture of events: it chooses the day that the form asks for, and shows the page of then.
const form = document.getElementById("as-of");
const slide = form?.querySelector("input[type=range]");

if (slide) {
  const day = form.elements.as_of;
  const first = Date.parse(slide.dataset.first);
  const length = 86_400_000;
  const place = () => (day.value ? Math.round((Date.parse(day.value) - first) / length) : Number(slide.max));
  slide.hidden = false;
  slide.value = place();
  slide.addEventListener("input", () => {
    day.value = new Date(first + slide.value * length).toISOString().slice(0, 10);
    slide.setAttribute("aria-valuetext", day.value);
  });
  slide.addEventListener("change", () => form.requestSubmit());
  day.addEventListener("change", () => (slide.value = place()));
}
