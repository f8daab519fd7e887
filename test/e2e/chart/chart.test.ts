import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { parse } from 'yaml'
import manifest from '../../../package.json' with { type: 'json' }
import { readConfig } from '../../../runtime/config.ts'
import { HELP } from '../../../runtime/help.ts'
import { ROOT } from '../support/environment.ts'
import { readSnippet } from '../support/snippets.ts'

const CHART = join(ROOT, 'runtime', 'deploy', 'chart')
const check = inject('chartCheck')
const folder = mkdtempSync(join(tmpdir(), 'muster-chart-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

// biome-ignore lint/suspicious/noExplicitAny: manifests were decoded strictly; the tests look into them
type Manifest = any

function render(values: string, release = 'fleet'): { manifests: Manifest[]; error: string } {
  const { stdout, stderr } = spawnSync(check, [CHART, values, release], { encoding: 'utf8' })
  return { manifests: stdout === '' ? [] : JSON.parse(stdout), error: stderr }
}

const rendered = (name: string) => {
  const { manifests, error } = render(join(import.meta.dirname, `values-${name}.yaml`))
  expect(error).toBe('')
  const find = (kind: string, suffix = '') =>
    manifests.find((one) => one.kind === kind && one.metadata.name === `fleet-muster${suffix}`)
  return { manifests, find, pod: () => find('Deployment').spec.template.spec }
}

/** The error that the chart gives for these values. */
const refusal = (values: string) => {
  const file = join(folder, 'values.yaml')
  writeFileSync(file, values)
  return render(file).error
}

describe.skipIf(check === '')('the chart', () => {
  test.each(['least', 'production', 'open', 'cluster'])(
    'makes manifests that Kubernetes takes, with values-%s.yaml',
    (name) => {
      expect(rendered(name).manifests.length).toBeGreaterThan(3)
    },
  )

  test('takes the values of the README', () => {
    const file = join(folder, 'readme.yaml')
    writeFileSync(file, readSnippet('chart-values'))
    const { manifests, error } = render(file)
    expect(error).toBe('')
    const hosts = manifests
      .filter(({ kind }) => kind === 'Ingress')
      .map(({ spec }) => [spec.rules[0].host, spec.tls[0].secretName])
    expect(hosts.sort()).toEqual([
      ['muster.example.com', 'muster-tls'],
      ['opamp.example.com', 'opamp-tls'],
    ])
  })

  test('is reached by the name that the README asks a certificate for, as the README installs it', () => {
    const { manifests, error } = render(join(import.meta.dirname, 'values-cluster.yaml'), 'muster')
    expect(error).toBe('')
    const { name, namespace } = manifests.find(
      ({ kind, spec }) => kind === 'Service' && spec.clusterIP === 'None',
    ).metadata
    const [{ env }] = manifests.find(({ kind }) => kind === 'Deployment').spec.template.spec.containers
    const checked = env.find((one: { name: string }) => one.name === 'MUSTER_INTERNAL_TLS_NAME').value
    expect(checked).toBe(`${name}.${namespace ?? 'observability'}.svc`)
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
    expect(readme).toContain(`\`${checked.replace('observability', 'NAMESPACE')}\``)
    expect(readme).toContain('helm install muster ')
  })

  test('tells agents the scheme of an Ingress, which always ends TLS', () => {
    const [{ env }] = rendered('production').pod().containers
    expect(env).toContainEqual({ name: 'MUSTER_OPAMP_PUBLIC_URL', value: 'wss://opamp.example.com' })
  })

  test('runs one process, whose rollouts and lost nodes end', () => {
    const { manifests, find, pod } = rendered('least')
    const { replicas, strategy } = find('Deployment').spec
    expect(replicas).toBe(1)
    expect(strategy).toEqual({ type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } })
    expect(manifests.map(({ kind }) => kind).sort()).toEqual([
      'Deployment',
      'Service',
      'Service',
      'ServiceAccount',
    ])
    const service = readFileSync(join(ROOT, 'runtime', 'service.ts'), 'utf8')
    const budgetMs = Number(/STOP_BUDGET_MS = ([\d_]+)/.exec(service)![1]!.replaceAll('_', ''))
    expect(pod().terminationGracePeriodSeconds * 1000).toBeGreaterThan(budgetMs)
    expect(pod().tolerations).toContainEqual({
      key: 'node.kubernetes.io/unreachable',
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 30,
    })
    const [container] = pod().containers
    // What strangers hold at the public ports takes no room of the one that is probed.
    for (const probe of [container.startupProbe, container.livenessProbe])
      expect(probe.httpGet).toEqual({ path: '/healthz', port: 'health' })
    expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'health' })
    const { value } = container.env.find(({ name }: { name: string }) => name === 'MUSTER_HEALTH_ADDR')
    expect(container.ports).toContainEqual({ name: 'health', containerPort: Number(value.slice(1)) })
    expect(container.image).toBe(`images.example.com/muster:${manifest.version}`)
  })

  test('runs three processes of a cluster, of which a rollout or a drained node takes one at a time', () => {
    const { find, pod } = rendered('cluster')
    const { replicas, strategy } = find('Deployment').spec
    expect(replicas).toBe(3)
    expect(strategy.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 })
    expect(find('PodDisruptionBudget').spec).toMatchObject({
      maxUnavailable: 1,
      selector: find('Deployment').spec.selector,
    })
    expect(find('Service', '-members').spec).toMatchObject({
      clusterIP: 'None',
      publishNotReadyAddresses: true,
    })
    const [{ env, ports }] = pod().containers
    const plain = Object.fromEntries(
      env.map((one: { name: string; value?: string }) => [one.name, one.value]),
    )
    // The service accepts these settings as the chart writes them, once Kubernetes has filled in the address of the
    // pod.
    const tls = { CERT: 'tls.crt', KEY: 'tls.key', CA: 'ca.crt' }
    for (const [address, reached] of [
      ['10.1.2.3', '10.1.2.3:7080'],
      ['fd00::7', '[fd00::7]:7080'],
    ] as const) {
      const read = readConfig({
        JWT_SECRET: 'x'.repeat(32),
        DB_DSN: 'postgres://db/muster',
        ...Object.fromEntries(Object.entries(plain).filter(([name]) => name.startsWith('MUSTER_'))),
        MUSTER_ADVERTISE_ADDR: plain['MUSTER_ADVERTISE_ADDR'].replace('$(POD_IP)', address),
      })
      expect(read).toMatchObject({
        ok: true,
        config: {
          cluster: {
            internalAddress: ':7080',
            advertiseAddress: reached,
            tls: {
              certFile: `/etc/muster/internal/${tls.CERT}`,
              keyFile: `/etc/muster/internal/${tls.KEY}`,
              caFile: `/etc/muster/internal/${tls.CA}`,
              name: 'fleet-muster-members.observability.svc',
            },
          },
        },
      })
    }
    expect(ports).toContainEqual({ name: 'internal', containerPort: 7080 })
    const secret = pod().volumes.find((one: { name: string }) => one.name === 'internal-tls').secret
    expect(secret).toEqual({ secretName: 'muster-internal', defaultMode: 0o440 })
    const { ingress, egress } = find('NetworkPolicy').spec
    const own = [{ podSelector: { matchLabels: find('Deployment').spec.selector.matchLabels } }]
    expect(ingress).toContainEqual({ ports: [{ port: 'internal' }], from: own })
    expect(egress).toContainEqual({ ports: [{ port: 7080 }], to: own })
  })

  test('leads services and probes to ports that the container has', () => {
    for (const name of ['least', 'production', 'open', 'cluster']) {
      const { manifests, find, pod } = rendered(name)
      const [container] = pod().containers
      const ports = container.ports.map((port: { name: string }) => port.name)
      const labels = find('Deployment').spec.template.metadata.labels
      for (const { spec } of manifests.filter(({ kind }) => kind === 'Service')) {
        expect(ports).toContain(spec.ports[0].targetPort)
        expect(labels).toMatchObject(spec.selector)
      }
      expect(labels).toMatchObject(find('Deployment').spec.selector.matchLabels)
      for (const rule of find('NetworkPolicy')?.spec.ingress ?? [])
        expect(ports).toContain(rule.ports[0].port)
    }
  })

  test('gives the process no privilege and nothing to write to, as the image expects', () => {
    const { pod } = rendered('production')
    expect(pod()).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 10_001, seccompProfile: { type: 'RuntimeDefault' } },
      serviceAccountName: 'shared',
    })
    expect(pod().containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
  })

  test('takes secrets by reference and sets nothing that the service does not know', () => {
    const { pod } = rendered('production')
    const [{ env, image, args }] = pod().containers
    expect(image).toMatch(/^images\.example\.com\/muster@sha256:/)
    expect(args).toEqual(['--edition', 'complete'])
    for (const { name } of env) expect(`${HELP}\nNODE_EXTRA_CA_CERTS`).toContain(name)
    const plain = Object.fromEntries(
      env.map((one: { name: string; value?: string }) => [one.name, one.value]),
    )
    expect(plain).toMatchObject({
      JWT_SECRET_FILE: '/etc/muster/secrets/jwt-secret',
      OIDC_CLIENT_SECRET_FILE: '/etc/muster/secrets/oidc-client-secret',
      SEED_ADMIN_PASSWORD: undefined,
      WORKLOAD_RETENTION_DAYS: '60',
      NODE_EXTRA_CA_CERTS: '/etc/muster/ca/extra.crt',
    })
    const mounted = pod().volumes.find((one: { name: string }) => one.name === 'secrets').secret
    expect(mounted).toMatchObject({ secretName: 'muster-secrets', defaultMode: 0o440 })
    expect(mounted.items.map((one: { path: string }) => one.path)).toEqual([
      ...['jwt-secret', 'db-dsn', 'opamp-shared-secret', 'oidc-client-secret'],
    ])
    const open = rendered('open').pod()
    expect(JSON.stringify(open)).not.toContain('OPAMP_SHARED_SECRET')
  })

  test('takes a proxy with a password from the Secret, and from nowhere else as well', () => {
    const file = join(folder, 'proxy.yaml')
    writeFileSync(file, 'secret: { keys: { httpsProxy: proxy-url } }')
    const [{ env }] = render(file).manifests.find(({ kind }) => kind === 'Deployment').spec.template.spec
      .containers
    expect(env).toContainEqual({
      name: 'HTTPS_PROXY',
      valueFrom: { secretKeyRef: { name: 'muster', key: 'proxy-url' } },
    })
    expect(
      refusal('secret: { keys: { httpsProxy: proxy-url } }\nsettings: { https_proxy: "http://other" }'),
    ).toContain('settings.https_proxy: the proxy comes from a key of the Secret')
  })

  test('takes names that look like numbers and truths for names', () => {
    const file = join(folder, 'names.yaml')
    writeFileSync(
      file,
      `
image: { repository: "1", tag: "0x1", pullSecrets: ["123"] }
secret: { name: "1.5", keys: { jwtSecret: "1", databaseDsn: "true", opampSharedSecret: "1.0", oidcClientSecret: "no", webhookUrl: "2" } }
extraCa: { configMap: "4", key: "5" }
cluster: { enabled: true, tlsSecret: "6" }
serviceAccount: { name: "7" }
priorityClassName: "8"
api: { ingress: { enabled: true, className: "9", host: "10", tlsSecret: "11" } }
podLabels: { a: "12" }
`,
    )
    const { manifests, error } = render(file)
    expect(error).toBe('')
    const pod = manifests.find(({ kind }) => kind === 'Deployment').spec.template.spec
    expect(pod).toMatchObject({
      serviceAccountName: '7',
      priorityClassName: '8',
      imagePullSecrets: [{ name: '123' }],
    })
    expect(pod.containers[0].image).toBe('1:0x1')
  })

  test('puts each listener behind a name of its own', () => {
    const { find } = rendered('production')
    expect(find('Ingress', '-api').spec.rules[0]).toMatchObject({
      host: 'muster.example.com',
      http: { paths: [{ path: '/', backend: { service: { name: 'fleet-muster-api' } } }] },
    })
    expect(find('Ingress', '-opamp').spec.rules[0]).toMatchObject({
      host: 'opamp.example.com',
      http: { paths: [{ path: '/v1/opamp', backend: { service: { name: 'fleet-muster-opamp' } } }] },
    })
    expect(find('ServiceMonitor').spec.selector.matchLabels).toMatchObject(
      find('Service', '-metrics').spec.selector,
    )
    expect(find('NetworkPolicy').spec.policyTypes).toEqual(['Ingress', 'Egress'])
    expect(rendered('open').find('NetworkPolicy').spec.policyTypes).toEqual(['Ingress'])
  })

  test.each([
    ['replicas: 2', '/replicas'],
    ['cluster: { enabled: true }', '/cluster/tlsSecret'],
    ['replicas: 2\ncluster: { enabled: false, tlsSecret: x }', '/replicas'],
    ['replicas: 10\ncluster: { enabled: true, tlsSecret: x }', '/replicas'],
    ['settings: { MUSTER_INTERNAL_ADDR: ":1" }', 'MUSTER_INTERNAL_ADDR'],
    ['replica: 1', 'replica'],
    ['settings: { JWT_SECRET: plain }', 'JWT_SECRET'],
    ['settings: { OIDC_CLIENT_SECRET: plain }', 'OIDC_CLIENT_SECRET'],
    ['settings: { WORKLOAD_RETENTION_DAYS: 60 }', '/settings/WORKLOAD_RETENTION_DAYS'],
    ['api: { ingress: { enabled: true } }', '/api/ingress/host'],
    ['image: { digest: latest }', '/image/digest'],
    ['edition: enterprise', '/edition'],
    ['image: { repository: "images.example.com/muster:1" }', '/image/repository'],
    ['image: { pullSecrets: ["a b"] }', '/image/pullSecrets/0'],
    ['settings: { HTTPS_PROXY: "http://user:secret@proxy:3128" }', '/settings/HTTPS_PROXY'],
    ['podLabels: { app.kubernetes.io/name: other }', "propertyName 'app.kubernetes.io/name'"],
  ])('refuses %j', (values, where) => {
    const error = refusal(values)
    expect(error).toContain("values don't meet the specifications of the schema")
    expect(error).toContain(where)
  })

  test('has the version of what it runs', () => {
    const { version, appVersion } = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8'))
    expect([version, appVersion]).toEqual([manifest.version, manifest.version])
  })
})

const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0
if (!hasAnalyze) console.error('*** SKIPPED: systemd is not here, so nothing has read the unit. ***')

describe.skipIf(!hasAnalyze)('the unit for systemd', () => {
  test('is one that systemd takes, also with the further files of the README', () => {
    const unit = readFileSync(join(ROOT, 'runtime', 'deploy', 'muster.service'), 'utf8')
    const program = 'ExecStart=/usr/local/bin/muster\n'
    expect(unit).toContain(program)
    const dropIn = readSnippet('systemd-drop-in')
    expect(dropIn).toMatch(/^\[Service\]\n/)
    const file = join(folder, 'muster.service')
    // `systemd-analyze` wants a program that exists, and muster is not installed here.
    writeFileSync(file, `${unit.replace(program, `ExecStart=${process.execPath}\n`)}\n${dropIn}`)
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], {
      encoding: 'utf8',
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(unit).not.toMatch(/^MemoryDenyWriteExecute/m)
    expect(unit).toMatch(/^CacheDirectory=muster$/m)
    expect(unit).toMatch(/^Environment=TMPDIR=%C\/muster$/m)
  })
})
