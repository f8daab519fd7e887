import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { Clock } from '../../lib/clock.ts'
import { frontMetrics } from '../../runtime/fronts/front-metrics.ts'
import { watchLoop } from '../../runtime/loop-watch.ts'
import { startSimulatedAgent } from '../../runtime/quickstart/simulated-agent.ts'
import { eventually } from '../support/eventually.ts'
import { useTestDatabase } from '../support/postgres.ts'
import { useTestService } from '../support/service.ts'

const database = await useTestDatabase()
const started = await useTestService(database, { metricsAddress: '127.0.0.1:0' })

/** Every sample of a scrape, by its name and labels. */
async function scrape(): Promise<Map<string, number>> {
  const response = await fetch(`http://127.0.0.1:${started.service.metricsPort}/metrics`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  const lines = (await response.text()).trimEnd().split('\n')
  const samples = lines.filter((line) => !line.startsWith('#'))
  return new Map(
    samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  )
}

describe('the metrics', () => {
  test('count the agents that are there, and what they said', async () => {
    expect((await scrape()).get('muster_agents')).toBe(0)
    const agent = startSimulatedAgent({ url: `ws://${started.opampUrl}`, secret: '', beatMs: 0 })
    await agent.until('it was answered', ({ heard }) => heard.length > 0)
    const samples = await scrape()
    expect(samples.get('muster_agents')).toBe(1)
    expect(samples.get('muster_workloads{status="connected"}')).toBe(1)
    expect(samples.get('muster_opamp_refused_total')).toBe(0)
    // What an agent says and what is asked over another connection may be heard in either order.
    await eventually('all that it said is counted', async () => {
      return (await scrape()).get('muster_opamp_messages_total') === agent.said.length
    })
    agent.kill()
    await eventually('it is counted as leaving, and not as connected', async () => {
      const after = await scrape()
      return (
        after.get('muster_workloads{status="connected"}') === 0 &&
        after.get('muster_workloads{status="leaving"}') === 1
      )
    })
    await agent.stop()
  })

  test('are numbers, each with a help and a type', async () => {
    const text = await (await fetch(`http://127.0.0.1:${started.service.metricsPort}/metrics`)).text()
    const samples = await scrape()
    for (const [name, value] of samples) {
      const family = name.split('{')[0]
      expect(Number.isFinite(value), name).toBe(true)
      expect(text).toMatch(new RegExp(`^# HELP ${family} .+\\n# TYPE ${family} (gauge|counter)$`, 'm'))
    }
    expect(samples.size).toBeGreaterThan(25)
    expect(samples.get('process_resident_memory_bytes')).toBeGreaterThan(1_000_000)
    expect(samples.get('muster_database_connections_max')).toBeGreaterThanOrEqual(4)
  })

  test('are each explained in the README, which names no other', async () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
    const named = new Set([...readme.matchAll(/`((?:muster|process)_[a-z_]+)`/g)].map(([, name]) => name))
    // Metrics that only a process of a fleet of processes has.
    const facts = { agents: 0, waiting: 0, unconfirmed: 0, absorbed: 0, forwarded: 0, replayed: 0 }
    const ofFronts = frontMetrics({
      ...facts,
      offersNotSent: 0,
      keptBytes: 0,
      refused: 0,
      isOwner: true,
      hasLink: true,
      saidCount: 0,
      skewMs: 0,
      slowBrowsers: 0,
      downSumMs: 0,
      unproven: 2,
      versions: ['1.0.0'],
      ownedSince: new Date(0),
      certificateEnds: new Date(0),
    })
    const served = new Set([
      ...[...(await scrape()).keys()].map((name) => name.split('{')[0]),
      ...ofFronts.map(({ name }) => name),
    ])
    // The counter of offers has no sample before there was an offer.
    expect([...named].filter((name) => name !== 'muster_offers_sent_total').sort()).toEqual(
      [...served].filter((name) => name !== 'muster_offers_sent_total').sort(),
    )
  })

  test('say how full every queue and buffer is', async () => {
    await started.service.ctx.fleet.writer.flush()
    const samples = await scrape()
    const empty = [
      'muster_events_waiting',
      'muster_rows_waiting',
      'muster_offers_waiting',
      'muster_offers_outstanding',
      'muster_hub_states_waiting',
      'muster_report_reads',
      ...['api', 'opamp'].map((listener) => `muster_http_requests_in_flight{listener="${listener}"}`),
      ...['api', 'opamp'].map((listener) => `muster_socket_buffered_bytes{listener="${listener}"}`),
      ...['api', 'opamp'].map((listener) => `muster_socket_waiting_bytes{listener="${listener}"}`),
      ...['password', 'config', 'report'].map((worker) => `muster_worker_jobs_queued{worker="${worker}"}`),
      ...['delivered', 'failed', 'given_up'].map(
        (word) => `muster_webhook_attempts_total{outcome="${word}"}`,
      ),
    ]
    for (const name of empty) expect(samples.get(name), name).toBe(0)
    for (const listener of ['api', 'opamp'])
      expect(samples.get(`muster_http_body_free_bytes{listener="${listener}"}`)).toBeGreaterThan(1_000_000)
  })

  test('say what a browser has not read, until it has, and when it has left', async () => {
    const { hub } = started.service.ctx
    const buffered = async () => (await scrape()).get('muster_socket_buffered_bytes{listener="api"}')!
    const open = async () => {
      const browser = new WebSocket(`${started.url.replace('http', 'ws')}/ws?token=${await started.token()}`)
      await once(browser, 'open')
      return browser
    }
    const fallBehind = async (browser: WebSocket) => {
      browser.pause()
      const id = 'x'.repeat(500_000)
      await eventually('it has not read all', async () => {
        hub.announce({ type: 'workload_removed', workload_id: id, reason: 'deleted' })
        return (await buffered()) > 0
      })
    }
    const reader = await open()
    await fallBehind(reader)
    reader.resume()
    await eventually('nothing is buffered', async () => (await buffered()) === 0)
    await fallBehind(reader)
    reader.terminate()
    await eventually('nothing is buffered', async () => (await buffered()) === 0)
  })

  test('are on an address of their own, which answers nothing else', async () => {
    expect((await fetch(`http://127.0.0.1:${started.service.metricsPort}/`)).status).toBe(404)
    const post = await fetch(`http://127.0.0.1:${started.service.metricsPort}/metrics`, { method: 'POST' })
    expect(post.status).toBe(405)
    expect((await started.call('GET', '/api/metrics')).status).toBe(404)
  })
})

test('the watch of the event loop tells the longest hold once', () => {
  let nowMs = 1_000
  const clock: Clock = { now: () => new Date(nowMs), monotonicMs: () => nowMs }
  const watch = watchLoop(clock)
  nowMs += 10 + 80
  expect(watch.takeLongestMs()).toBe(80)
  watch.stop()
})
