package pipeline

// LabelsRead says which labels can make a difference to the review of a change.
type LabelsRead int

// What is read of labels. The numbers are stored.
const (
	LabelsNone    LabelsRead = 0
	LabelsAll     LabelsRead = 1
	LabelsOfTypes LabelsRead = 2 // those that classify takes for a type
)
