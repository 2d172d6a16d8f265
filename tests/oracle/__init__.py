"""What recall must give, computed a second time in plain Python from the contract; shares no code with the package."""
