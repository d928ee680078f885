package demo

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"
)

// patience bounds each wait for an answer under Once. A review takes well under a second.
const patience = 30 * time.Second

// tell tells the story on the terminal. Under Once it takes all steps. Otherwise each line of
// In takes the next one, and it returns when ctx ends. It fails if Out can't be written.
func (d *demo) tell(ctx context.Context) error {
	if d.Once {
		d.say("The whole App runs here, with a stand-in for GitHub.")
		for s := d.next(); s != nil; s = d.next() {
			if err := d.play(ctx, s, patience); err != nil {
				return err
			}
			if err := d.said(); err != nil {
				return err
			}
		}
		if d.Database != "" {
			d.say("", "The reviews are in "+d.Database+".", "Try: reviewgate replay --all --database sqlite://"+d.Database)
		}
		return d.said()
	}
	d.say("The pull request, its comment and its check: "+d.paint("1;36", d.url()),
		"GitHub is a stand-in on this machine. "+map[bool]string{true: "Press Enter for the next step, or a button of the page.", false: "Each button of the page takes a step."}[d.In != nil]+" Ctrl-C ends the demo.")
	enters := d.enters()
	for {
		if err := d.said(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case _, ok := <-enters:
			s := d.next()
			switch {
			case !ok:
				enters = nil
			case s == nil:
				d.say("All steps are taken. The page stays until Ctrl-C: " + d.url())
			default:
				if err := d.play(ctx, s, patience); err != nil && ctx.Err() == nil {
					d.say("", d.paint("31", err.Error()+". Look at the page, or start again with --verbose."))
				}
			}
		}
	}
}

// enters returns a channel that gets each line of In, or nil if there is no In. It is
// closed when In ends.
func (d *demo) enters() <-chan struct{} {
	if d.In == nil {
		return nil
	}
	c := make(chan struct{})
	go func() {
		defer close(c)
		for lines := bufio.NewScanner(d.In); lines.Scan(); {
			c <- struct{}{}
		}
	}()
	return c
}

// sayStep tells the result of a step.
func (d *demo) sayStep(s *step) {
	lines := []string{"", d.paint("1", s.does)}
	if c, ok := d.check(); ok {
		mergeable, _ := d.pr.Mergeable()
		mark, merge := d.paint("31", "✗ "+strings.ReplaceAll(c.Conclusion, "_", " ")), "merging is blocked"
		if mergeable {
			mark, merge = d.paint("32", "✓ "+c.Conclusion), "merging is allowed"
		}
		lines = append(lines, fmt.Sprintf("  check    %s, %s", mark, merge), "           "+c.Title)
	}
	if comments := d.pr.AppComments(); len(comments) > 0 {
		c := comments[0]
		state := "written"
		if c.Edits > 0 {
			state = "the same one, edited " + map[bool]string{true: "once", false: fmt.Sprint(c.Edits, " times")}[c.Edits == 1]
		}
		lines = append(lines, "  comment  "+state)
	}
	if d.Database != "" {
		lines = append(lines, "  run      "+d.timeline.newestRun())
	}
	d.say(append(lines, "  "+s.look)...)
}

// say writes lines to the terminal.
func (d *demo) say(lines ...string) {
	d.out.Lock()
	defer d.out.Unlock()
	if _, err := fmt.Fprintln(d.Out, strings.Join(lines, "\n")); err != nil {
		d.unsaid = fmt.Errorf("write the answer: %w", err)
	}
}

// said returns an error if something could not be written to the terminal.
func (d *demo) said() error {
	d.out.Lock()
	defer d.out.Unlock()
	return d.unsaid
}

// paint gives a text a colour or a weight, by the parameters of the terminal's escape sequence.
func (d *demo) paint(how, text string) string {
	if !d.Colours {
		return text
	}
	return "\x1b[" + how + "m" + text + "\x1b[0m"
}
