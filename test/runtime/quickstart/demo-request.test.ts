import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { CHECKOUT_DRAFT, GATEWAY_CONFIG } from '../../../runtime/quickstart/demo-agents.ts'

it('has the request of the demo keep a quarter of the traces, as its title says, and all of the metrics', () => {
  const asked = parse(CHECKOUT_DRAFT)
  const runs = parse(GATEWAY_CONFIG)
  expect(asked.processors.probabilistic_sampler).toEqual({ sampling_percentage: 25 })
  const { traces, metrics } = asked.service.pipelines
  expect(traces.processors).toEqual(['memory_limiter', 'probabilistic_sampler', 'batch'])
  expect(metrics).toEqual(runs.service.pipelines.metrics)
})
