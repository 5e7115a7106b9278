// A login link carries its secret after "#", which browsers never send: hand it over in the body of a request.
const secret = location.hash.slice(1);
if (secret) {
  history.replaceState(null, "", location.pathname);
  const form = document.getElementById("by-link");
  form.elements.link.value = secret;
  form.submit();
}
