import type { Infer } from 'superstruct'
import type { VersionDraft } from '../../lib/fleet-configs/read-version.ts'
import type { FleetConfigVersionRequest } from '../../lib/wire/fleet-configs.ts'

/** A version as it was sent. */
export const readDraft = ({
  content,
  variables,
  table,
  comment,
}: Infer<typeof FleetConfigVersionRequest>): VersionDraft => ({
  body: content,
  variables: variables.map((variable) => ({
    name: variable.name,
    type: variable.type,
    isRequired: variable.required,
    pattern: variable.pattern ?? null,
    fallback: variable.default ?? null,
    description: variable.description ?? '',
    label: variable.label ?? null,
  })),
  valueTable: table ?? null,
  comment: comment.trim(),
})
