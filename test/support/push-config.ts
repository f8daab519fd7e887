import { requiredComponents } from '../../lib/configs/check/components.ts'
import { parseConfig } from '../../lib/configs/yaml/parse.ts'
import type { Fleet } from '../../lib/fleet/fleet.ts'
import { configHash } from '../../lib/model/config-hash.ts'
import type { Push } from '../../lib/store/pushes.ts'
import type { StagePlan } from '../../lib/store/rollouts.ts'

/** A small valid config; the numbers make different ones. */
export const configYaml = (port = 4317): string => `receivers:
  otlp:
    protocols:
      grpc:
        endpoint: "127.0.0.1:${port}"
exporters:
  debug:
service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [debug]
`

/** A config that also passes the checks for production. */
export const productionYaml = (port = 4317): string =>
  configYaml(port)
    .replace('exporters:', 'processors:\n  memory_limiter:\n    check_interval: 1s\n  batch:\nexporters:')
    .replace('receivers: [otlp]', 'receivers: [otlp]\n      processors: [memory_limiter, batch]')

/** Make a config the assignment of a workload, as an approved push does. `meanwhile` runs inside its transaction. */
export async function pushConfig(
  fleet: Fleet,
  workloadId: string,
  yaml: string,
  meanwhile: () => void = () => {},
  stages: readonly StagePlan[] | null = null,
): Promise<Push> {
  const parsed = parseConfig(yaml)
  const outcome = await fleet.push(
    {
      workloadId,
      hash: configHash(yaml),
      body: yaml,
      used: parsed.ok ? requiredComponents(parsed.document) : [],
      path: 'request',
      actor: { userId: 'u1', email: 'pusher@example.com', askAgain: null },
      approvalId: null,
      rollbackTargetKind: null,
      stages,
    },
    async () => {
      meanwhile()
      return { ok: true }
    },
  )
  if (!outcome.ok) throw new Error(`push refused: ${outcome.code}`)
  return outcome.push
}
