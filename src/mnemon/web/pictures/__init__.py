"""Pictures made on the server as SVG: numbers and places are counted here, templates draw them, tables stand behind."""
