package learning

import "math"

// Wilson returns the 95 % Wilson score interval of the share part/of. If of is 0, it returns 0 and 1.
func Wilson(part, of int) (low, high float64) {
	if of <= 0 {
		return 0, 1
	}
	const z = 1.959964 // of 95 %
	n, p := float64(of), float64(part)/float64(of)
	middle, half := (p+z*z/(2*n))/(1+z*z/n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))/(1+z*z/n)
	return max(0, min(p, middle-half)), min(1, max(p, middle+half))
}
