"""Tables of a study to steps."""
