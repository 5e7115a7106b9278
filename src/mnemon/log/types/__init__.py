"""Event types: what each kind of event must look like, and how old data becomes new."""
