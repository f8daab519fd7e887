import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { CommandFailure, EXIT } from '../exit-codes.ts'
import type { WorkloadDocument } from './documents.ts'

/** A document with the workload that it means. */
export interface Target {
  document: WorkloadDocument
  workload: WorkloadRecord
}

/**
 * Find the workload of each document. Throws CommandFailure where labels fit none or several, or two documents mean
 * the same workload.
 */
export function findTargets(
  documents: readonly WorkloadDocument[],
  workloads: readonly WorkloadRecord[],
): Target[] {
  const byWorkload = new Map<string, string>()
  return documents.map((document) => {
    const workload = findOne(document, workloads)
    const other = byWorkload.get(workload.id)
    if (other !== undefined)
      throw new CommandFailure(`${document.place}: ${other} is about the same workload`, EXIT.refused)
    byWorkload.set(workload.id, document.place)
    return { document, workload }
  })
}

function findOne({ place, workload }: WorkloadDocument, all: readonly WorkloadRecord[]): WorkloadRecord {
  const found =
    'id' in workload ? all.filter(({ id }) => id === workload.id) : all.filter(fits(workload.labels))
  if (found.length === 1) return found[0]!
  const meant = 'id' in workload ? `the id "${workload.id}"` : `these labels`
  const message =
    found.length === 0
      ? `no workload has ${meant}`
      : `${found.length} workloads have ${meant}: say more of them`
  throw new CommandFailure(`${place}: ${message}`)
}

/** Whether every given name and value is a label of the workload or part of its fingerprint. */
const fits =
  (labels: Readonly<Record<string, string>>) =>
  ({ labels: own, fingerprint_keys: keys }: WorkloadRecord): boolean =>
    Object.entries(labels).every(([name, value]) => own[name] === value || keys[name] === value)
