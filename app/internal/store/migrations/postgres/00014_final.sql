-- +goose Up
-- The layers of which the person had the authority that they name for what they
-- made final, separated by blanks; of a verdict for one base branch.
ALTER TABLE verdicts ADD COLUMN final_in TEXT NOT NULL DEFAULT '';
ALTER TABLE verdicts ADD COLUMN final_base TEXT NOT NULL DEFAULT '';
ALTER TABLE hand_decisions ADD COLUMN final_in TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE hand_decisions DROP COLUMN final_in;
ALTER TABLE verdicts DROP COLUMN final_base;
ALTER TABLE verdicts DROP COLUMN final_in;
