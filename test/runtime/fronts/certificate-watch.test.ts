import { appendFileSync, rmSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CertificateFiles } from '../../../runtime/fronts/certificate-files.ts'
import { CertificateWatch } from '../../../runtime/fronts/certificate-watch.ts'
import { certificateInFiles, writeCertificate } from '../../support/certificate-files.ts'
import { type Lifetime, selfSignedCertificate } from '../../support/certificates.ts'
import {
  FAKE_START,
  type FakeClock,
  fakeClock,
  type RecordingLog,
  recordingLog,
} from '../../support/fakes.ts'
import { type ManualTimers, manualTimers } from '../../support/manual-timers.ts'

const DAY_MS = 86_400_000
const LOOK_AT_FILES_MS = DAY_MS / 24
const afterDays = (days: number) => new Date(Date.parse(FAKE_START) + days * DAY_MS)
/** As long as those that a cluster's own issuer makes. */
const QUARTER: Lifetime = { from: afterDays(0), to: afterDays(90) }
const make = (lifetime?: Lifetime) => selfSignedCertificate(['127.0.0.1'], lifetime)

let files: CertificateFiles
let remove: () => Promise<void>
let clock: FakeClock
let timers: ManualTimers
let log: RecordingLog
let renewals: number
let refuses: boolean
beforeEach(async () => {
  const made = await certificateInFiles(make(QUARTER))
  files = made.files
  remove = made.remove
  clock = fakeClock()
  timers = manualTimers(clock)
  log = recordingLog()
  renewals = 0
  refuses = false
})
afterEach(() => remove())

function open(): CertificateWatch {
  return new CertificateWatch({ files, everyMs: LOOK_AT_FILES_MS, clock, timers, log })
}

function start(): CertificateWatch {
  const watch = open()
  watch.start({
    renewCertificate() {
      if (refuses) throw new Error('the port is in use')
      renewals++
    },
  })
  return watch
}

const saidAt = (level: string) => log.lines.filter((line) => line.level === level)

describe('the certificate between processes', () => {
  it.each([
    ['no file', () => rmSync(files.certFile), 'MUSTER_INTERNAL_TLS_CERT', 'cannot be read (ENOENT)'],
    [
      'no certificate',
      () => writeFileSync(files.certFile, 'x'),
      'MUSTER_INTERNAL_TLS_CERT',
      'no certificate',
    ],
    ['no key', () => writeFileSync(files.keyFile, 'x'), 'MUSTER_INTERNAL_TLS_KEY', 'no private key'],
    [
      'a foreign key',
      () => writeFileSync(files.keyFile, make().key),
      'MUSTER_INTERNAL_TLS_KEY',
      'not belong',
    ],
    ['an empty authority', () => writeFileSync(files.caFile, ''), 'MUSTER_INTERNAL_TLS_CA', 'no certificate'],
    [
      'an authority of garbage beside another',
      () => appendFileSync(files.caFile, '-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n'),
      'MUSTER_INTERNAL_TLS_CA',
      'that cannot be read',
    ],
  ])('of %s is told by its setting and its file', (_, spoil, setting, fault) => {
    spoil()
    expect(open).toThrow(setting)
    expect(open).toThrow(fault)
  })

  it('is taken when it is replaced, and not before', async () => {
    const watch = start()
    timers.advance(10 * LOOK_AT_FILES_MS)
    expect(renewals).toBe(0)
    await writeCertificate(files, make({ from: afterDays(0), to: afterDays(150) }))
    timers.advance(LOOK_AT_FILES_MS)
    expect(renewals).toBe(1)
    expect(watch.ends).toEqual(afterDays(150))
    expect(saidAt('info')).toMatchObject([{ fields: { ends: afterDays(150) } }])
  })

  it('stays as it is while another authority is trusted', () => {
    const watch = start()
    const { ca } = watch.authority()
    appendFileSync(files.caFile, make().cert)
    timers.advance(LOOK_AT_FILES_MS)
    expect(renewals).toBe(0)
    expect(watch.authority().ca.length).toBeGreaterThan(ca.length)
  })

  it('stays while another is half written, which is told once, until that one is whole', async () => {
    const watch = start()
    const next = make({ from: afterDays(0), to: afterDays(150) })
    writeFileSync(files.certFile, next.cert)
    timers.advance(LOOK_AT_FILES_MS)
    timers.advance(60_000)
    expect(renewals).toBe(0)
    expect(watch.ends).toEqual(QUARTER.to)
    expect(saidAt('error')).toMatchObject([
      { fields: { reason: expect.stringContaining('MUSTER_INTERNAL_TLS_KEY') } },
    ])
    await writeCertificate(files, next)
    timers.advance(LOOK_AT_FILES_MS)
    expect(renewals).toBe(1)
    expect(watch.ends).toEqual(afterDays(150))
  })

  it('is tried again where the listener could not take it', async () => {
    const watch = start()
    refuses = true
    await writeCertificate(files, make({ from: afterDays(0), to: afterDays(150) }))
    timers.advance(LOOK_AT_FILES_MS)
    expect(saidAt('error')).toMatchObject([{ fields: { reason: 'the port is in use' } }])
    expect(watch.ends).toEqual(QUARTER.to)
    refuses = false
    timers.advance(LOOK_AT_FILES_MS)
    expect(watch.ends).toEqual(afterDays(150))
  })

  it.each([
    ['has ended', () => make({ from: afterDays(-90), to: afterDays(-1) }), true],
    ['begins later only', () => make({ from: afterDays(1), to: afterDays(91) }), true],
    ['is by nobody who is trusted', () => make({ from: afterDays(0), to: afterDays(150) }), false],
  ])('stays while what lies in its place %s, and it is good itself', (_, other, isTrusted) => {
    const watch = start()
    const { cert, key } = other()
    writeFileSync(files.certFile, cert)
    writeFileSync(files.keyFile, key)
    if (isTrusted) appendFileSync(files.caFile, cert)
    timers.advance(LOOK_AT_FILES_MS)
    expect(renewals).toBe(0)
    expect(watch.ends).toEqual(QUARTER.to)
    expect(saidAt('error')).toMatchObject([
      { fields: { reason: expect.stringContaining('MUSTER_INTERNAL_TLS_CERT') } },
    ])
    // Once it has ended itself, there is nothing to lose.
    clock.advance(91 * DAY_MS)
    timers.advance(LOOK_AT_FILES_MS)
    expect(renewals).toBe(1)
  })

  it('is looked at when one was refused, but not for each that is', async () => {
    const watch = start()
    clock.advance(2_000)
    await writeCertificate(files, make())
    watch.refused()
    expect(renewals).toBe(1)
    await writeCertificate(files, make())
    watch.refused()
    expect(renewals).toBe(1)
  })

  it('is said to end each day from 21 days before, and then to have ended', () => {
    start()
    timers.advance(69 * DAY_MS - LOOK_AT_FILES_MS)
    expect(log.lines).toEqual([])
    timers.advance(3 * DAY_MS)
    expect(saidAt('warn').map(({ fields }) => fields)).toEqual(Array(4).fill({ ends: QUARTER.to }))
    timers.advance(18 * DAY_MS + LOOK_AT_FILES_MS)
    expect(saidAt('error')).toMatchObject([{ fields: { ends: QUARTER.to } }])
  })

  it('of a short life is said to end when a quarter of it is left', async () => {
    await writeCertificate(files, make({ from: afterDays(0), to: afterDays(4) }))
    start()
    timers.advance(2.5 * DAY_MS)
    expect(log.lines).toEqual([])
    timers.advance(DAY_MS)
    expect(saidAt('warn').length).toBeGreaterThan(0)
  })
})
