import { describe, expect, it } from 'vitest'
import { HUB_FRAMES, HubFrame } from '../../../lib/wire/hub.ts'

const ALERT = {
  id: 'a1',
  workload_id: 'w1',
  rule: 'workload_down',
  severity: 'critical',
  message: 'gone',
  fired_at: '2026-01-01T00:00:00Z',
  details: null,
  next: null,
  next_steps: null,
  about: null,
  resolved_at: null,
  resolve_reason: null,
  reopen_until: null,
}

describe('a frame', () => {
  it('of each kind is told by its type', () => {
    const kinds = HUB_FRAMES.map(({ schema }) => schema.type.schema)
    expect(new Set(kinds).size).toBe(HUB_FRAMES.length)
  })

  it('carries null for what was cleared, and leaves nothing out', () => {
    expect(HubFrame.is({ type: 'alert_update', alert: ALERT })).toBe(true)
    expect(HubFrame.is({ type: 'alert_update', alert: { ...ALERT, resolve_reason: 'known' } })).toBe(true)
    const { resolved_at: _, ...rest } = ALERT
    expect(HubFrame.is({ type: 'alert_update', alert: rest })).toBe(false)
    expect(HubFrame.is({ type: 'alert_update', alert: { ...ALERT, message: null } })).toBe(false)
  })

  it('of an unknown type, or with a field of another type, is none', () => {
    expect(HubFrame.is({ type: 'greeting' })).toBe(false)
    expect(HubFrame.is({ type: 'pong', seen: { w1: 3 } })).toBe(false)
    expect(HubFrame.is({ type: 'pong', seen: { w1: '2026-01-01T00:00:00Z' } })).toBe(true)
  })
})
