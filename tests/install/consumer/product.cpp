// A kernel of the user's own, which asks for nothing of eddy: its compiler may contract a*a - b, unless eddy's flags reach it.
double square_less(double a, double b) { return a * a - b; }
