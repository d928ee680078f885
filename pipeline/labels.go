package pipeline

// LabelsRead says which labels can affect the review of a change.
type LabelsRead int

// The values of LabelsRead. The numbers are stored.
const (
	LabelsNone    LabelsRead = 0
	LabelsAll     LabelsRead = 1
	LabelsOfTypes LabelsRead = 2 // labels that classify reads as a type
)
