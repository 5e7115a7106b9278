// The address that this page was reached at is the one that works in the example.
document.querySelector("[data-origin]").textContent = location.origin;
