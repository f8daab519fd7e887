import type { EvidencePack, ReportFormat } from '../wire/reports.ts'
import type { EncodedSection } from './canonical.ts'
import type { GatheredMaterial } from './gather.ts'
import type { PackFrame } from './pack.ts'

/** A pack but for its sections, which are bytes by then. */
export type FramedPack = Omit<EvidencePack, 'sections'>

/** What the report thread does: make a pack of rows, or a document of a pack's canonical bytes. */
export type ReportJob =
  | ({ kind: 'assemble'; frame: PackFrame } & GatheredMaterial)
  | { kind: 'render'; format: ReportFormat; chunks: Uint8Array<ArrayBuffer>[] }

export type ReportJobResult =
  | { kind: 'assembled'; frame: FramedPack; sections: EncodedSection[] }
  | { kind: 'rendered'; chunks: Uint8Array<ArrayBuffer>[] }
  /** The PDF renderer cannot be used here. */
  | { kind: 'pdf-unavailable'; cause: string }
