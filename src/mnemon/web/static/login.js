// A login link carries its secret after "#", which browsers never send: hand it over in the body of a request.
function useLink() {
  const secret = location.hash.slice(1);
  if (!secret) return;
  history.replaceState(null, "", location.pathname);
  const form = document.getElementById("by-link");
  form.elements.link.value = secret;
  form.submit();
}

useLink();
// Pasted while this page is open, a link changes the address without loading anything.
addEventListener("hashchange", useLink);
