/** What is kept of one agent's message; an honest agent stays far below each of these. */
export const INTAKE_LIMITS = {
  attributes: 128,
  /** In UTF-16 units, as all text limits here; an attribute with a longer key is left out. */
  attributeKeyLength: 256,
  /** Longer values are cut. */
  attributeValueLength: 1024,
  /** Over all categories together; what comes after is left out. */
  componentNames: 5000,
  componentCategories: 64,
  componentNameLength: 256,
  /** A deeper health tree is refused: nothing real is nested like that. */
  healthDepth: 64,
  /** Later nodes are left out. */
  healthNodes: 2000,
  /** Of all error texts of one tree together. */
  healthTextLength: 65_536,
  healthNameLength: 256,
  healthStatusLength: 256,
  /** Long enough for the log tail that a supervisor appends, before the redactor shortens it. */
  errorTextLength: 16_384,
  /** A hash of ours has 32 bytes. A longer one is not ours and is cut: it only has to differ from ours. */
  hashBytes: 64,
  configFiles: 64,
  configFileNameLength: 256,
} as const
