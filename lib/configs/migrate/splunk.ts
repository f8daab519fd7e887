import { isSecretKey } from '../redact/redact.ts'
import type { MigrationDraft } from './draft.ts'
import { lastValue, type Section } from './sections.ts'

const MONITOR = 'monitor://'
const TRUE = ['1', 'true', 't', 'yes', 'y']

/** The settings of a monitor that become attributes of its entries. */
const MONITOR_ATTRIBUTES = [
  ['sourcetype', 'splunk.sourcetype'],
  ['index', 'splunk.index'],
  ['host', 'host.name'],
] as const

/** Carry over a Splunk forwarder's `inputs.conf`, `outputs.conf` and `props.conf`. */
export function migrateSplunk(sections: readonly Section[], draft: MigrationDraft): void {
  const counters = { monitor: 0 }
  for (const section of sections) {
    const { header } = section
    if (header.startsWith(MONITOR)) migrateMonitor(section, counters, draft)
    else if (/httpout|hec/i.test(header) && lastValue(section, 'uri') !== '') migrateCollector(section, draft)
    else if (header.startsWith('source::')) {
      for (const { key } of section.settings) {
        if (!isSecretKey(key)) {
          draft.unsupported(`[${header}].${key.toUpperCase()}`, 'line rules are not carried over')
        }
      }
    } else draft.unsupported(`[${header}]`, 'the section has no counterpart in the draft')
  }
}

function migrateMonitor(section: Section, counters: { monitor: number }, draft: MigrationDraft): void {
  const at = `[${section.header}]`
  const path = section.header.slice(MONITOR.length).trim()
  if (TRUE.includes(lastValue(section, 'disabled').toLowerCase())) {
    draft.warn('splunk_monitor_disabled', 'The monitor is disabled and was left out.', at)
    draft.explain(
      'splunk.monitor.disabled.skip',
      `${at}.disabled`,
      'receivers',
      'Disabled monitors are left out.',
    )
    return
  }
  // Splunk's `...` stands for any number of folders, as `**` does for a filelog receiver.
  const include = path === '' ? null : draft.copy(path.replaceAll('...', '**'), at)
  if (include === null) return
  const id = `splunk_monitor_${counters.monitor++}`
  draft.map(
    'splunk.monitor.path_to_filelog.include',
    at,
    `receivers.filelog/${id}.include`,
    'The files are read by a filelog receiver.',
  )
  draft.fileReceiver(id, [include], { resource: monitorAttributes(section, at, id, draft) })
  const carried = ['disabled', ...MONITOR_ATTRIBUTES.map(([key]) => key as string)]
  for (const key of new Set(section.settings.map((setting) => setting.key))) {
    if (carried.includes(key) || isSecretKey(key)) continue
    draft.unsupported(`${at}.${key}`, 'the setting has no counterpart in the draft')
  }
}

function monitorAttributes(
  section: Section,
  at: string,
  id: string,
  draft: MigrationDraft,
): Map<string, string> {
  const attributes = new Map<string, string>()
  for (const [key, attribute] of MONITOR_ATTRIBUTES) {
    const raw = lastValue(section, key)
    if (raw.startsWith('$')) draft.unsupported(`${at}.${key}`, 'the forwarder computes this value')
    const value = raw === '' || raw.startsWith('$') ? null : draft.copy(raw, `${at}.${key}`)
    if (value === null) continue
    attributes.set(attribute, value)
    draft.map(
      `splunk.monitor.${key}.to_resource_attribute`,
      `${at}.${key}`,
      `receivers.filelog/${id}.resource[${attribute}]`,
      'Added to these entries.',
    )
  }
  return attributes
}

function migrateCollector(section: Section, draft: MigrationDraft): void {
  const at = `[${section.header}]`
  // The forwarder spreads data over a list of addresses; the exporter takes one.
  const addresses = lastValue(section, 'uri').split(',')
  const endpoint = draft.endpoint(addresses[0]!, `${at}.uri`)
  if (addresses.length > 1) draft.unsupported(`${at}.uri`, 'only the first address is carried over')
  if (endpoint === null) return
  draft.splunkExporter(endpoint)
  draft.map(
    'splunk.outputs.hec.uri_to_splunk_hec.endpoint',
    `${at}.uri`,
    'exporters.splunk_hec.endpoint',
    'Everything is sent to the HTTP event collector; its token comes from SPLUNK_HEC_TOKEN.',
  )
}
