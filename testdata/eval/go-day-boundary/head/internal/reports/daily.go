package reports

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Sale is one receipt.
type Sale struct {
	At    time.Time
	Cents int64
}

// Day is what a shop took in on one day.
type Day struct {
	Begin, End time.Time
	Cents      int64
	Sales      int
}

// Daily sums sales by the days of a zone, such as Europe/Lisbon, the earliest
// first. Days without sales are left out.
func Daily(sales []Sale, zoneName string) ([]Day, error) {
	zone, err := time.LoadLocation(zoneName)
	if err != nil {
		return nil, fmt.Errorf("load the shop's time zone: %w", err)
	}
	byDay := map[time.Time]*Day{}
	for _, s := range sales {
		day := s.At.In(zone).Truncate(24 * time.Hour)
		d := byDay[day]
		if d == nil {
			next := day.Add(24 * time.Hour)
			d = &Day{Begin: day, End: next}
			byDay[day] = d
		}
		d.Cents += s.Cents
		d.Sales++
	}
	out := make([]Day, 0, len(byDay))
	for _, d := range byDay {
		out = append(out, *d)
	}
	slices.SortFunc(out, func(a, b Day) int { return cmp.Compare(a.Begin.Unix(), b.Begin.Unix()) })
	return out, nil
}
