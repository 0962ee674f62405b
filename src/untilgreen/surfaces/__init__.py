"""What people see: drawn from events, sending arrivals; nothing is decided here."""
