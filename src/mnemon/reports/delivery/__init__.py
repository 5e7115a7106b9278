"""Delivery: whoever wants to be told of what the log says is told, by webhook or by mail.

`recipients` are kept with their addresses sealed; `following` leaves a job for each event that one of them wants;
`delivering` is that job, and `webhook` and `letters` are its two ways out. `operations` are what a user may do.
"""
