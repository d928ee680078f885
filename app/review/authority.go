package review

import (
	"context"
	"slices"
	"strings"

	"github.com/reviewgate/reviewgate/app/render"
	"github.com/reviewgate/reviewgate/config"
)

// lacksForFinal is what the sender lacks to take a finding that is final in some layers
// out of the gate. People whom each of the layers names need no more than write
// permission, except on their own pull requests.
func (o *order) lacksForFinal(ctx context.Context, layers []string) (string, error) {
	if err := o.askAuthority(ctx); err != nil {
		return "", err
	}
	switch {
	case slices.ContainsFunc(layers, func(layer string) bool { return !slices.Contains(o.finalIn, layer) }):
		return render.TakesFinal, nil
	case o.what.Own:
		return o.judgesOwn(ctx)
	}
	return "", nil
}

// askAuthority finds the layers that name the sender under final_authority. GitHub is
// asked about teams now, and only if a layer names some.
func (o *order) askAuthority(ctx context.Context) error {
	o.finalIn = nil
	for i := range o.config.Floors {
		floor := &o.config.Floors[i]
		has, err := o.hasAuthority(ctx, floor)
		if err != nil {
			return err
		}
		if has {
			o.finalIn = append(o.finalIn, floor.Layer)
		}
	}
	return nil
}

// hasAuthority reports whether a layer names the sender, or a team that the sender is in.
// Only teams of the repository's own organisation count: anybody may have taken the name
// of another account.
func (o *order) hasAuthority(ctx context.Context, floor *config.Floor) (bool, error) {
	for _, who := range floor.Authority {
		org, _, team := strings.Cut(who, "/")
		if !team {
			if strings.EqualFold(who, o.Sender) {
				return true, nil
			}
			continue
		}
		if !strings.EqualFold(org, o.Target.Owner) {
			continue
		}
		if in, err := o.GitHub.TeamMember(ctx, o.Target, who, o.Sender); in || err != nil {
			return in, err
		}
	}
	return false, nil
}
