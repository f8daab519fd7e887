// Checks a chart as Helm and Kubernetes would: `chartcheck CHART VALUES RELEASE` lints it, renders it with the values
// file as that release and decodes every manifest strictly as what it says it is. Prints the manifests as a JSON list.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

// What a chart may make, by apiVersion and kind.
var kinds = map[string]func() any{
	"apps/v1 Deployment":                      func() any { return &apps.Deployment{} },
	"v1 Service":                              func() any { return &core.Service{} },
	"v1 ServiceAccount":                       func() any { return &core.ServiceAccount{} },
	"networking.k8s.io/v1 Ingress":            func() any { return &networking.Ingress{} },
	"networking.k8s.io/v1 NetworkPolicy":      func() any { return &networking.NetworkPolicy{} },
	"policy/v1 PodDisruptionBudget":           func() any { return &policy.PodDisruptionBudget{} },
	"monitoring.coreos.com/v1 ServiceMonitor": func() any { return &monitoring.ServiceMonitor{} },
}

func lintChart(folder string, values map[string]any, version *chartutil.KubeVersion) error {
	result := lint.AllWithKubeVersion(folder, values, "default", version)
	for _, message := range result.Messages {
		if message.Severity >= support.WarningSev {
			return fmt.Errorf("lint: %s", message)
		}
	}
	return nil
}

func render(folder, name string, values map[string]any, version *chartutil.KubeVersion) (map[string]string, error) {
	chart, err := loader.Load(folder)
	if err != nil {
		return nil, err
	}
	release := chartutil.ReleaseOptions{Name: name, Namespace: "observability", IsInstall: true}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = *version
	all, err := chartutil.ToRenderValues(chart, values, release, capabilities)
	if err != nil {
		return nil, err
	}
	return engine.Render(chart, all)
}

func decode(text string) (json.RawMessage, error) {
	var head struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal([]byte(text), &head); err != nil {
		return nil, err
	}
	name := head.APIVersion + " " + head.Kind
	make, known := kinds[name]
	if !known {
		return nil, fmt.Errorf("%q is none of the kinds that the chart is known to make", name)
	}
	if err := yaml.UnmarshalStrict([]byte(text), make()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return yaml.YAMLToJSON([]byte(text))
}

func run(folder, valuesFile, release string) error {
	values, err := chartutil.ReadValuesFile(valuesFile)
	if err != nil {
		return err
	}
	version := &chartutil.KubeVersion{Version: "v1.34.0", Major: "1", Minor: "34"}
	files, err := render(folder, release, values, version)
	if err != nil {
		return err
	}
	if err := lintChart(folder, values, version); err != nil {
		return err
	}
	names := []string{}
	for name := range files {
		if strings.HasSuffix(name, ".yaml") {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	manifests := []json.RawMessage{}
	for _, name := range names {
		for _, text := range strings.Split("\n"+files[name], "\n---\n") {
			if strings.TrimSpace(text) == "" {
				continue
			}
			manifest, err := decode(text)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			manifests = append(manifests, manifest)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(manifests)
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: chartcheck CHART VALUES RELEASE")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
