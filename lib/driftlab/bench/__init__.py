"""How fast driftlab is, beside the plain ways that compute the same."""
