"""Tables, figures, the papers' values and claims, the scoreboard and the report page."""
