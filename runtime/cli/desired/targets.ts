import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import type { WorkloadDocument } from './documents.ts'

/** A document with the workload that it means. */
export interface Target {
  document: WorkloadDocument
  workload: WorkloadRecord
}

/** A document that means no workload for sure. */
export interface Unclear {
  document: WorkloadDocument
  reason: string
  /** The workloads that it may mean. */
  candidates: readonly WorkloadRecord[]
}

/**
 * Find the workload of each document. Labels are what agents say of themselves: whatever they make unclear, by labels
 * that fit several or by two documents that mean one, keeps no other document from being requested.
 */
export function findTargets(
  documents: readonly WorkloadDocument[],
  workloads: readonly WorkloadRecord[],
): { targets: Target[]; unclear: Unclear[] } {
  const found = documents.map((document) => ({ document, candidates: findAll(document, workloads) }))
  const targets: Target[] = []
  const unclear: Unclear[] = []
  for (const { document, candidates } of found) {
    const [workload] = candidates
    const { place } = document
    if (workload === undefined || candidates.length > 1) {
      unclear.push({ document, candidates, reason: `${place}: ${sayUnclear(document, candidates.length)}` })
      continue
    }
    const other = found.find(
      (one) => one.document !== document && one.candidates.length === 1 && one.candidates[0] === workload,
    )
    // An id means the workload whatever labels come to fit it.
    const isSure = other === undefined || ('id' in document.workload && !('id' in other.document.workload))
    if (isSure) targets.push({ document, workload })
    else {
      const reason = `${place}: ${other.document.place} is about the same workload`
      unclear.push({ document, candidates, reason })
    }
  }
  return { targets, unclear }
}

const findAll = ({ workload }: WorkloadDocument, all: readonly WorkloadRecord[]): WorkloadRecord[] =>
  'id' in workload ? all.filter(({ id }) => id === workload.id) : all.filter(fits(workload.labels))

function sayUnclear({ workload }: WorkloadDocument, count: number): string {
  const meant = 'id' in workload ? `the id "${workload.id}"` : 'these labels'
  return count === 0 ? `no workload has ${meant}` : `${count} workloads have ${meant}: say more of them`
}

/** Whether every given name and value is a label of the workload or part of its fingerprint. */
const fits =
  (labels: Readonly<Record<string, string>>) =>
  ({ labels: own, fingerprint_keys: keys }: WorkloadRecord): boolean =>
    Object.entries(labels).every(([name, value]) => own[name] === value || keys[name] === value)
