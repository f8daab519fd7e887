import type { Material } from '../store/report-material.ts'
import type { EvidencePack, EvidenceSection } from '../wire/reports.ts'
import { type EncodedSection, encodeSection, hashInputs, hashReport, type UnsignedPack } from './canonical.ts'
import { toPdfText } from './pdf-glyphs.ts'
import { createRedactor, type Redactor } from './redaction.ts'
import type { NormalRequest } from './request.ts'
import { fairCap, keepWithin, ROW_LIMITS } from './row-limits.ts'
import type { BuiltItem, BuiltSection } from './section-items.ts'
import { buildSections } from './sections.ts'

/** The format that a pack is made for; it decides how many rows there is room for. */
export type PackTarget = keyof typeof ROW_LIMITS

/** What the verifier of an edition found in the audit chain. */
export type SignedAudit = NonNullable<EvidencePack['signed_audit']>
type Warning = NonNullable<EvidencePack['warnings']>[number]

/** Everything that goes into a pack except its rows. */
export interface PackFrame {
  request: NormalRequest
  target: PackTarget
  /** RFC 3339 in UTC. */
  generatedAt: string
  signedAudit: SignedAudit | null
  /** Null while the audit log is empty. */
  auditHead: EvidencePack['audit_head'] | null
}

/** A pack that is complete but for its signature. */
export interface AssembledPack {
  frame: UnsignedPack & { inputs_hash: string; report_hash: string }
  sections: EncodedSection[]
}

/** How many rows an item takes in an output. */
function weigh({ item }: BuiltItem, target: PackTarget): number {
  return target === 'csv' ? Math.max(1, Object.keys(item.facts).length) : 1
}

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0)

/**
 * Cut sections to an output's rows: even shares for the sections, then for the workloads within one. A warning counts
 * what there is, of which `extents` say where not all of it was read.
 */
export function limitSections(
  sections: readonly BuiltSection[],
  target: PackTarget,
  extents: Material['extents'] = {},
  rowsMax: number = ROW_LIMITS[target],
): { sections: BuiltSection[]; warnings: Warning[] } {
  const weights = sections.map(({ items }) => sum(items.map((entry) => weigh(entry, target))))
  const cap = fairCap(weights, rowsMax)
  const warnings: Warning[] = []
  const limited = sections.map((section, index) => {
    if (weights[index]! <= cap) return section
    const weighed = section.items.map((entry) => ({
      workloadId: entry.workloadId,
      weight: weigh(entry, target),
      entry,
    }))
    const items = keepWithin(weighed, cap).map(({ entry }) => entry)
    const total = extents[section.id as keyof Material['extents']]?.total ?? section.items.length
    warnings.push(truncation(section.id, items.length, total, target))
    return { ...section, items }
  })
  return { sections: limited, warnings }
}

const ROW_NAMES = { json: 'items', markdown: 'items', csv: 'lines', pdf: 'table rows' } as const

function truncation(sectionId: string, kept: number, total: number, target: PackTarget): Warning {
  return {
    code: `${sectionId}_truncated`,
    message:
      `Section ${sectionId} holds ${kept} of ${total} items, of each workload the newest: ` +
      `there is room for ${ROW_LIMITS[target]} ${ROW_NAMES[target]} in all.`,
  }
}

/** Warnings for the sections of which not all rows were read from the database. */
function readWarnings(material: Material, built: readonly BuiltSection[]): Warning[] {
  return built.flatMap(({ id, items }) => {
    const extent = material.extents[id as keyof Material['extents']]
    return extent !== undefined && extent.perWorkload !== null
      ? [truncation(id, items.length, extent.total, 'json')]
      : []
  })
}

/** The warnings that every PDF, or one with replaced characters, carries. */
export function pdfWarnings(
  sections: readonly EvidenceSection[],
  frame: Pick<EvidencePack, 'scope'>,
): Warning[] {
  const warnings: Warning[] = [
    {
      code: 'pdf_minimal_renderer',
      message: 'The PDF is for reading. Hashes and signatures are checked against the JSON pack.',
    },
  ]
  const isReplaced = (value: unknown): boolean => {
    if (typeof value === 'string') return toPdfText(value).isReplaced
    if (value === null || typeof value !== 'object') return false
    return Object.entries(value).some(([key, field]) => isReplaced(key) || isReplaced(field))
  }
  if (isReplaced(frame.scope) || sections.some((section) => isReplaced(section.items))) {
    warnings.push({
      code: 'pdf_glyphs_replaced',
      message: 'Characters outside Latin, Greek and Cyrillic are shown by their code points.',
    })
  }
  return warnings
}

/** The pack repeats the request, so its group and selector are redacted like everything else. */
function redactRequest(request: NormalRequest, redactor: Redactor): NormalRequest {
  const { group_id, selector, ...rest } = request.scope
  const scope: NormalRequest['scope'] = rest
  if (group_id !== undefined) scope.group_id = redactor.text(group_id)
  if (selector !== undefined) scope.selector = redactor.value(selector).value as Record<string, string>
  return { ...request, scope }
}

function resolveScope(request: NormalRequest, workloadIds: string[]): EvidencePack['scope'] {
  return {
    workload_ids: workloadIds,
    workload_count: workloadIds.length,
    ...(request.scope.group_id === undefined ? {} : { group_id: request.scope.group_id }),
    ...(request.scope.selector === undefined ? {} : { selector: request.scope.selector }),
    ...(request.scope.whole_fleet ? { whole_fleet: true } : {}),
    ...(request.scope.since === undefined ? {} : { since: request.scope.since }),
    ...(request.scope.until === undefined ? {} : { until: request.scope.until }),
    requested_scope: request.scope,
  }
}

/** Of two warnings with one code the later one counts: it is that of the tighter limit. */
function mergeWarnings(...lists: Warning[][]): Warning[] {
  const byCode = new Map<string, Warning>()
  for (const warning of lists.flat()) byCode.set(warning.code, warning)
  return [...byCode.values()]
}

/**
 * Make a pack of its material: sections, redaction, row limits, warnings, hashes. `inputs_hash` is the same for
 * every target, also one with room for fewer rows.
 */
export function assemblePack(frame: PackFrame, material: Material): AssembledPack {
  const { target } = frame
  const redactor = createRedactor(new Map(material.userIds))
  const request = redactRequest(frame.request, redactor)
  const built = buildSections(material, request.include, redactor)
  const toSections = (sections: readonly BuiltSection[]): EvidenceSection[] =>
    sections.map((section) => ({ ...section, items: section.items.map(({ item }) => item) }))
  const whole = limitSections(built, 'json', material.extents)
  const wholeEncoded = toSections(whole.sections).map(encodeSection)
  const workloadIds = material.workloads.map(({ id }) => id)
  const inputsHash = hashInputs(request, wholeEncoded, workloadIds)

  const limited =
    target === 'json' || target === 'markdown' ? whole : limitSections(built, target, material.extents)
  const sections = limited === whole ? wholeEncoded : toSections(limited.sections).map(encodeSection)
  const unsigned: UnsignedPack = {
    schema_version: 'evidence_pack.v1',
    generated_at: frame.generatedAt,
    scope: resolveScope(request, workloadIds),
    ...(frame.signedAudit === null ? {} : { signed_audit: frame.signedAudit }),
    ...(frame.auditHead === null ? {} : { audit_head: frame.auditHead }),
  }
  const forPdf = target === 'pdf' ? pdfWarnings(toSections(limited.sections), unsigned) : []
  const warnings = mergeWarnings(readWarnings(material, whole.sections), limited.warnings, forPdf)
  if (warnings.length > 0) unsigned.warnings = warnings
  const reportHash = hashReport(unsigned, inputsHash, sections)
  return { frame: { ...unsigned, inputs_hash: inputsHash, report_hash: reportHash }, sections }
}
