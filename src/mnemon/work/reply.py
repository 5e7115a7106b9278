"""How the reply of a subprocess begins: apart from the rest, since a subprocess should start with few imports."""

RESULT, ERROR = b"R", b"E"
