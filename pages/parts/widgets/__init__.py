"""Controls that show what is selected and change it; what a control means is the page's that uses it."""
