import { configHash } from '../../model/config-hash.ts'
import { withoutValues } from './changed-lines.ts'

/** Sections of a config in which an address of the host itself serves its collector alone, such as its own telemetry. */
const OWN_SECTION = /^(?:extensions|service):/
const OWN_ADDRESS = /((?:127\.\d+\.\d+\.\d+|localhost|\[::1\]):)\d+/g
const OWN_PORT = /^(\s+port: )\d+$/

/**
 * A key of what a workload reports to run: equal for two normal forms that differ in nothing but `own`, values by the
 * names that stand for them, and the ports at which a collector serves its own host. What applications of that host send
 * to is no such port.
 */
export function reportKey(report: string, own: Readonly<Record<string, string>>): string {
  let isOwn = false
  const lines = report.split('\n').map((line) => {
    if (/^\S/.test(line)) isOwn = OWN_SECTION.test(line)
    return isOwn ? line.replace(OWN_ADDRESS, '$10').replace(OWN_PORT, '$10') : line
  })
  return configHash(withoutValues(lines.join('\n'), own)).slice(0, 32)
}
