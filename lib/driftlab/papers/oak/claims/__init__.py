"""Wanderlust's claims, one function per claim, named after what it says.

Each function takes scores or frames from `driftlab.metrics` and returns a verdict. The criteria are ours
where the paper gives none; margins are points of AP50 and presuppose OAK's scale, so that they are printed
with every verdict. A claim needs all the methods that it speaks of: a smaller experiment is "not testable".
"""
