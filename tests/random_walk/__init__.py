"""What the random walk of ``tests.wander`` can do, and what it checks after every action. No test lives here."""
