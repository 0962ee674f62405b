"""Each decides after a lap that was not green: continue, finish, or ask a person.

fixed     A fixed number of laps.
hybrid    Base laps for every run, and bonus laps for runs that make progress.
ralph     The same task again and again, until the agent says that it is done and the gates agree.
adaptive  Continues while another lap is worth its price, based on your own runs.
manual    A person decides after every lap.

Used by: the loop, which asks the one that a plan names. Uses: only learning and values.
"""
