import type { EvidencePack, ReportFormat } from '../wire/reports.ts'
import type { EncodedSection } from './canonical.ts'
import type { GatheredMaterial } from './gather.ts'
import type { PackFrame } from './pack.ts'
import type { People } from './people.ts'

/** A pack without its sections, which are canonical bytes by then. */
export type FramedPack = Omit<EvidencePack, 'sections'>

/** A job of the report thread: make a pack from rows, or a document from the canonical bytes of a pack. */
export type ReportJob =
  | ({ kind: 'assemble'; frame: PackFrame } & GatheredMaterial)
  | { kind: 'render'; format: ReportFormat; chunks: Uint8Array<ArrayBuffer>[]; people: People }

/** What the report thread answers. */
export type ReportJobResult =
  | { kind: 'assembled'; frame: FramedPack; sections: EncodedSection[] }
  | { kind: 'rendered'; chunks: Uint8Array<ArrayBuffer>[] }
  /** The PDF renderer cannot be used here. */
  | { kind: 'pdf-unavailable'; cause: string }
