import { array, boolean, defaulted, enums, type Infer, optional, string, type } from 'superstruct'
import { named, note, type Sent, texts } from './structs.ts'

export const TemplateKind = named('TemplateKind', '', enums(['saved', 'template', 'draft', 'known_good']))
export type TemplateKind = Infer<typeof TemplateKind>

export const TemplateVariable = named(
  'TemplateVariable',
  'A placeholder of a template.',
  type({
    name: string(),
    label: string(),
    type: string(),
    required: boolean(),
    description: optional(string()),
    placeholder: optional(string()),
  }),
)
export type TemplateVariable = Infer<typeof TemplateVariable>

export const TemplateRecord = named(
  'TemplateRecord',
  'A config template. `content` is only in the single record.',
  type({
    id: string(),
    name: string(),
    content: optional(string()),
    created_at: string(),
    created_by: note('A user id.', string()),
    kind: TemplateKind,
    status: enums(['ready', 'draft']),
    category: optional(string()),
    stack: optional(string()),
    description: optional(string()),
    variables: optional(array(TemplateVariable)),
    tags: optional(array(string())),
    built_in: boolean(),
    source_type: optional(enums(['manual', 'migration_assistant'])),
  }),
)
export type TemplateRecord = Infer<typeof TemplateRecord>

export const TemplateCreateRequest = named(
  'TemplateCreateRequest',
  'Body of `POST /api/configs`.',
  type({
    name: defaulted(string(), ''),
    content: defaulted(string(), ''),
    kind: defaulted(string(), ''),
    category: defaulted(string(), ''),
    stack: defaulted(string(), ''),
    tags: defaulted(texts(1_000), () => []),
    source_type: defaulted(string(), ''),
  }),
)
export type TemplateCreateRequest = Sent<typeof TemplateCreateRequest>
