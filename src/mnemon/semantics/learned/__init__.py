"""The learned reader: judges each part of a sentence, in its context, beside the rules."""
