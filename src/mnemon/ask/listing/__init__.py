"""Questions that want a list of events: what was decided in March, what changed since the meeting, what is open."""
