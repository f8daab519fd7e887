import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { classifyAgentError } from '../../../../lib/configs/redact/agent-error.ts'
import { createFleetContext, fakeAgent } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'

// The real function that classifies error texts, with its calls counted.
vi.mock('../../../../lib/configs/redact/agent-error.ts', async (original) => {
  const real = await original<typeof import('../../../../lib/configs/redact/agent-error.ts')>()
  return { ...real, classifyAgentError: vi.fn(real.classifyAgentError) }
})

const ctx = await createFleetContext(await useTestDatabase())
afterAll(() => ctx.close())
beforeEach(() => void vi.mocked(classifyAgentError).mockClear())

const HASH = 'ab'.repeat(32)

test('an error text that an agent repeats with every message is read once', () => {
  const agent = fakeAgent(ctx.fleet)
  for (let i = 0; i < 50; i++) agent.fail(`${i} listen tcp :4317: bind: address already in use`, HASH)
  expect(classifyAgentError).toHaveBeenCalledTimes(1)
  const { report } = ctx.fleet.state.instances.get(agent.uid)!
  expect(report?.error).toMatchObject({ cause: 'port_in_use' })

  agent.applying(HASH)
  agent.fail('unknown type: "nope"', HASH)
  expect(classifyAgentError).toHaveBeenCalledTimes(2)
  expect(ctx.fleet.state.instances.get(agent.uid)!.report?.error).toMatchObject({
    cause: 'component_unknown',
  })
})

test('a look at a health tree redacts its texts only for who may see them', async () => {
  const agent = fakeAgent(ctx.fleet)
  const lastError = 'dial https://app:hunter2@backend: connection refused'
  const node = {
    healthy: false,
    status: '',
    lastError,
    startTimeMs: null,
    statusTimeMs: null,
    children: new Map(),
  }
  agent.say({ health: { ...node, lastError: '', children: new Map([['exporter:otlp', node]]) } })
  const instance = ctx.fleet.state.instances.get(agent.uid)!
  const look = async (withTexts: boolean) => {
    const detail = await ctx.views.instance(instance.workload!, agent.uid, { withTexts })
    return detail?.health?.components?.['exporter:otlp']
  }
  expect(await look(false)).toMatchObject({ error_cause: 'connection_failed' })
  expect(classifyAgentError).toHaveBeenLastCalledWith(lastError, { withText: false })
  expect(await look(true)).toMatchObject({ last_error: 'dial https://backend: connection refused' })
})
