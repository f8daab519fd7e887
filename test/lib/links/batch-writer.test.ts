import { expect, it } from 'vitest'
import { BatchWriter } from '../../../lib/links/batch-writer.ts'
import { type FrontEntry, readFrontBatch } from '../../../lib/links/frames.ts'
import { fakeClock } from '../../support/fakes.ts'
import { manualTimers } from '../../support/manual-timers.ts'

// A process may stand still between the turn in which it says something on a link and the one in which that is written.

function startWriter() {
  const clock = fakeClock()
  const timers = manualTimers(clock)
  const sent: string[] = []
  const writer = new BatchWriter<FrontEntry>({
    clock,
    timers,
    epoch: 1,
    maySay: () => true,
    send: (text) => sent.push(text),
  })
  sent.length = 0
  const written = () => sent.splice(0).map(readFrontBatch)
  return { clock, timers, writer, written }
}

it('dates a batch when its first entry was said, also where the process stood still before it was written', () => {
  const { clock, timers, writer, written } = startWriter()
  const saidMs = clock.monotonicMs()
  writer.push(['closed', 7])
  clock.advance(4_000)
  writer.push(['closed', 8])
  timers.advance(0)
  expect(written().filter(({ entries }) => entries.length > 0)).toMatchObject([
    {
      atMs: saidMs,
      entries: [
        ['closed', 7],
        ['closed', 8],
      ],
    },
  ])
})

it('dates a batch without entries when it is written', () => {
  const { clock, timers, writer, written } = startWriter()
  writer.push(['closed', 7])
  timers.advance(0)
  written()
  timers.advance(1_000)
  expect(written()).toMatchObject([{ atMs: clock.monotonicMs(), entries: [] }])
})
