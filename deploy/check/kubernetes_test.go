package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// objects are the objects that an overlay produces, by kind.
type objects map[string]any

// build runs kustomize and reads each object strictly: a field that Kubernetes doesn't know
// is an error.
func build(t *testing.T, overlay string) objects {
	t.Helper()
	return buildIn(t, "../kubernetes/overlays/"+overlay)
}

func buildIn(t *testing.T, overlay string) objects {
	t.Helper()
	all, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), overlay)
	if err != nil {
		t.Fatalf("kustomize build %s: %v", overlay, err)
	}
	out := objects{}
	for _, r := range all.Resources() {
		var o any
		switch kind := r.GetKind(); kind {
		case "Deployment":
			o = &apps.Deployment{}
		case "Service":
			o = &core.Service{}
		case "ServiceAccount":
			o = &core.ServiceAccount{}
		case "ConfigMap":
			o = &core.ConfigMap{}
		case "Namespace":
			o = &core.Namespace{}
		case "PersistentVolumeClaim":
			o = &core.PersistentVolumeClaim{}
		case "NetworkPolicy":
			o = &networking.NetworkPolicy{}
		case "PodDisruptionBudget":
			o = &policy.PodDisruptionBudget{}
		case "HorizontalPodAutoscaler":
			o = &autoscaling.HorizontalPodAutoscaler{}
		default:
			t.Fatalf("%s has a %s, which this test doesn't know", overlay, kind)
		}
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(text, o); err != nil {
			t.Errorf("%s: %s: %v", overlay, r.GetKind(), err)
		}
		if ns := r.GetNamespace(); ns != "reviewgate" && r.GetKind() != "Namespace" {
			t.Errorf("%s: %s is in the namespace %q", overlay, r.GetKind(), ns)
		}
		if out[r.GetKind()] != nil {
			t.Errorf("%s has a second %s", overlay, r.GetKind())
		}
		out[r.GetKind()] = o
	}
	return out
}

func get[T any](t *testing.T, all objects, kind string) T {
	t.Helper()
	o, ok := all[kind].(T)
	if !ok {
		t.Fatalf("there is no %s", kind)
	}
	return o
}

func TestOverlays(t *testing.T) {
	for _, overlay := range []string{"postgres", "sqlite", "autoscaling"} {
		t.Run(overlay, func(t *testing.T) {
			all := build(t, overlay)
			d := get[*apps.Deployment](t, all, "Deployment")
			pod := &d.Spec.Template
			restricted(t, pod)
			probes(t, &pod.Spec.Containers[0])
			labels := d.Spec.Selector.MatchLabels
			if len(labels) == 0 || !matches(labels, pod.Labels) {
				t.Errorf("the Deployment selects %v, its pods have %v", labels, pod.Labels)
			}
			s := get[*core.Service](t, all, "Service")
			if len(s.Spec.Selector) == 0 || !matches(s.Spec.Selector, pod.Labels) || s.Spec.Ports[0].TargetPort.StrVal != pod.Spec.Containers[0].Ports[0].Name {
				t.Errorf("the Service selects %v, port %v", s.Spec.Selector, s.Spec.Ports)
			}
			a := get[*core.ServiceAccount](t, all, "ServiceAccount")
			if a.Name != pod.Spec.ServiceAccountName || a.AutomountServiceAccountToken == nil || *a.AutomountServiceAccountToken {
				t.Error("the service account mounts its token")
			}
			n := get[*networking.NetworkPolicy](t, all, "NetworkPolicy")
			if len(n.Spec.PolicyTypes) != 2 || !matches(n.Spec.PodSelector.MatchLabels, pod.Labels) {
				t.Errorf("the network policy has the types %v for %v", n.Spec.PolicyTypes, n.Spec.PodSelector)
			}
			if ns := get[*core.Namespace](t, all, "Namespace"); ns.Labels["pod-security.kubernetes.io/enforce"] != "restricted" {
				t.Error("the namespace accepts any pod")
			}
		})
	}
}

// restricted compares a pod with Kubernetes' restricted security standard, and checks a few
// more properties.
func restricted(t *testing.T, pod *core.PodTemplateSpec) {
	t.Helper()
	p, c := pod.Spec.SecurityContext, pod.Spec.Containers[0].SecurityContext
	yes := func(b *bool) bool { return b != nil && *b }
	switch {
	case p == nil || c == nil:
		t.Fatal("a security context is missing")
	case !yes(p.RunAsNonRoot) || p.RunAsUser == nil || *p.RunAsUser != 65532:
		t.Error("the pod may run as root")
	case p.SeccompProfile == nil || p.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault:
		t.Error("no seccomp profile")
	case c.AllowPrivilegeEscalation == nil || *c.AllowPrivilegeEscalation || !yes(c.ReadOnlyRootFilesystem):
		t.Error("the container may gain privileges, or write to its root")
	case c.Capabilities == nil || !slices.Equal(c.Capabilities.Drop, []core.Capability{"ALL"}) || len(c.Capabilities.Add) > 0:
		t.Error("the container keeps capabilities")
	case pod.Spec.AutomountServiceAccountToken == nil || *pod.Spec.AutomountServiceAccountToken:
		t.Error("the pod gets a token of the cluster")
	}
	if len(pod.Spec.Containers) != 1 {
		t.Errorf("%d containers", len(pod.Spec.Containers))
	}
	r := pod.Spec.Containers[0].Resources
	if r.Requests.Cpu().IsZero() || r.Requests.Memory().IsZero() || r.Limits.Memory().IsZero() {
		t.Errorf("resources %+v", r)
	}
	for _, e := range pod.Spec.Containers[0].Env {
		if strings.Contains(e.Name, "SECRET") || strings.Contains(e.Value, "PRIVATE KEY") || strings.HasPrefix(e.Value, "postgres://") {
			t.Errorf("the manifest contains %s", e.Name)
		}
	}
	mounted := map[string]bool{}
	for _, m := range pod.Spec.Containers[0].VolumeMounts {
		mounted[m.Name] = true
	}
	for _, v := range pod.Spec.Volumes {
		if !mounted[v.Name] {
			t.Errorf("the volume %s is not mounted", v.Name)
		}
	}
}

func probes(t *testing.T, c *core.Container) {
	t.Helper()
	for name, p := range map[string]*core.Probe{"startup /healthz": c.StartupProbe, "liveness /healthz": c.LivenessProbe, "readiness /readyz": c.ReadinessProbe} {
		_, path, _ := strings.Cut(name, " ")
		if p == nil || p.HTTPGet == nil || p.HTTPGet.Path != path || p.HTTPGet.Port.StrVal != c.Ports[0].Name {
			t.Errorf("the %s probe is %+v", name, p)
		}
	}
}

func matches(selector, labels map[string]string) bool {
	for k, v := range selector {
		if labels[k] != v {
			return false
		}
	}
	return true
}

// While pods are replaced or nodes are drained, one pod keeps accepting webhooks.
func TestReplicasStayUp(t *testing.T) {
	all := build(t, "postgres")
	d := get[*apps.Deployment](t, all, "Deployment")
	if u := d.Spec.Strategy.RollingUpdate; *d.Spec.Replicas < 2 || u == nil || u.MaxUnavailable.IntValue() != 0 || u.MaxSurge.IntValue() < 1 {
		t.Errorf("%d replicas, strategy %+v", *d.Spec.Replicas, d.Spec.Strategy)
	}
	if len(d.Spec.Template.Spec.TopologySpreadConstraints) == 0 {
		t.Error("all replicas may run on one node")
	}
	for _, c := range d.Spec.Template.Spec.TopologySpreadConstraints {
		if !matches(c.LabelSelector.MatchLabels, d.Spec.Template.Labels) {
			t.Errorf("%s spreads %v", c.TopologyKey, c.LabelSelector)
		}
	}
	b := get[*policy.PodDisruptionBudget](t, all, "PodDisruptionBudget")
	if b.Spec.MinAvailable.IntValue() != 1 || len(b.Spec.Selector.MatchLabels) == 0 || !matches(b.Spec.Selector.MatchLabels, d.Spec.Template.Labels) {
		t.Errorf("disruption budget %+v", b.Spec)
	}
	n := get[*networking.NetworkPolicy](t, all, "NetworkPolicy")
	if !slices.ContainsFunc(n.Spec.Egress, func(e networking.NetworkPolicyEgressRule) bool { return e.Ports[0].Port.IntValue() == 5432 }) {
		t.Error("the database can't be reached")
	}
}

// SQLite allows one writer, so there is never a second pod, and no pod can share the volume.
func TestSQLiteIsAlone(t *testing.T) {
	all := build(t, "sqlite")
	d := get[*apps.Deployment](t, all, "Deployment")
	if *d.Spec.Replicas != 1 || d.Spec.Strategy.Type != apps.RecreateDeploymentStrategyType || d.Spec.Strategy.RollingUpdate != nil {
		t.Errorf("%d replicas, strategy %+v", *d.Spec.Replicas, d.Spec.Strategy)
	}
	v := get[*core.PersistentVolumeClaim](t, all, "PersistentVolumeClaim")
	if !slices.Equal(v.Spec.AccessModes, []core.PersistentVolumeAccessMode{core.ReadWriteOncePod}) {
		t.Errorf("access modes %v", v.Spec.AccessModes)
	}
	c := d.Spec.Template.Spec.Containers[0]
	var url, dir string
	for _, e := range c.Env {
		if e.Name == "REVIEWGATE_DATABASE_URL" {
			url = e.Value
		}
	}
	for _, m := range c.VolumeMounts {
		if m.Name == "database" {
			dir = m.MountPath
		}
	}
	if dir == "" || !strings.HasPrefix(url, "sqlite://"+dir+"/") {
		t.Errorf("the database %q is not on the volume at %q", url, dir)
	}
	if all["PodDisruptionBudget"] != nil {
		t.Error("a disruption budget for one pod would block draining its node")
	}
}

func TestAutoscaling(t *testing.T) {
	all := build(t, "autoscaling")
	d := get[*apps.Deployment](t, all, "Deployment")
	h := get[*autoscaling.HorizontalPodAutoscaler](t, all, "HorizontalPodAutoscaler")
	if d.Spec.Replicas != nil {
		t.Error("both Deployment and autoscaler set the number of replicas")
	}
	m := h.Spec.Metrics[0]
	if h.Spec.ScaleTargetRef.Name != d.Name || m.External == nil || *h.Spec.MinReplicas < 2 {
		t.Fatalf("autoscaler %+v", h.Spec)
	}
	page := scrape(t)
	if page.names[m.External.Metric.Name] == nil {
		t.Errorf("the server has no metric %s", m.External.Metric.Name)
	}
}

// The overlay in docs/install.md runs the image that the page names.
func TestOwnOverlay(t *testing.T) {
	doc, err := os.ReadFile("../../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(doc), "```yaml\n# production/kustomization.yaml")
	text, _, ok2 := strings.Cut(rest, "```")
	if !ok || !ok2 {
		t.Fatal("docs/install.md has no overlay")
	}
	// Kustomize accepts neither absolute paths nor paths through links.
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	deploy, err := filepath.Abs("..")
	if err == nil {
		deploy, err = filepath.Rel(dir, deploy)
	}
	if err != nil {
		t.Fatal(err)
	}
	text = "#" + strings.Replace(text, "../deploy/", deploy+"/", 1)
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d := get[*apps.Deployment](t, buildIn(t, dir), "Deployment")
	if image := d.Spec.Template.Spec.Containers[0].Image; image != "registry.acme.com/reviewgate:v1" {
		t.Errorf("the pods run %s", image)
	}
}
