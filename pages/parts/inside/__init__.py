"""What the page Inside a head is built from: the weight it is about, and the way through its steps."""
