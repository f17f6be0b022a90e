internal import DBusTypes
public import FocusContract

/// Makes a model of saved fields, one after another, as far as the limits go: an earlier version may have had others.
public struct Restoration {
  /// The model, complete after `finish`.
  public let model = FocusModel()
  /// What is past a limit and left out, in words for people: fields and keys, never values.
  public private(set) var leftOut: [String] = []
  /// The containing fields of the fields that are left out.
  private var parents: [FieldID: FieldID?] = [:]
  private var fields: [FieldID: Field] = [:]
  private var allowances = Allowances()
  /// How many fields have each object.
  private var objects: [String: Int] = [:]

  /// Creates a model without fields.
  public init() {}

  /// Adds `saved` without the values that exceed a limit; omits all of it if its owner exceeds its allowance.
  /// - Throws: `ModelError.invalid` for a value that is never saved.
  public mutating func add(_ saved: SavedField) throws(ModelError) {
    var field = Field(
      id: saved.id, label: saved.label, scope: saved.scope, lingers: saved.lingers, isSensitive: saved.isSensitive,
      owner: saved.owner, service: saved.object?.service, claimedProcess: saved.process, parent: saved.parent,
      registration: saved.registration)
    field.awaited = saved.object
    (field.window, field.memory, field.activity) = (saved.window, saved.memory, saved.activity)
    if let object = saved.object, let connection = field.connection {
      let count = objects[connection.text + object.path.text, default: 0]
      guard count < Limits.fieldsPerObject else { return leaveOut(saved.id, in: saved.parent) }
      objects[connection.text + object.path.text] = count + 1
    }
    var keysPastLimits: [Key] = []
    // In order, so that each start leaves out the same.
    let isFull = saved.bindings.count > Limits.keysPerField
    for (key, binding) in isFull ? saved.bindings.sorted(by: { $0.key < $1.key }) : Array(saved.bindings) {
      do {
        try Limits.check(keys: field.bindings.count + 1)
        field.bindings[key] = FieldBinding(
          value: binding.value, revision: binding.revision, isReadOnly: binding.isReadOnly,
          extent: try Limits.check(binding.value, of: key))
      } catch {
        guard case .limitExceeded = error else { throw error }
        keysPastLimits.append(key)
      }
    }
    do {
      try allowances.check(field.owner, lingers: field.lingers, fields: 1, field.extent)
    } catch {
      return leaveOut(saved.id, in: saved.parent)
    }
    allowances.add(field.owner, lingers: field.lingers, fields: 1, field.extent)
    fields[saved.id] = field
    for key in keysPastLimits.sorted() { leaveOut(key, of: saved.id) }
  }

  /// Leaves out the field `id`, which is past a limit.
  public mutating func leaveOut(_ id: FieldID, in parent: FieldID?) {
    parents.updateValue(parent, forKey: id)
    leftOut.append("the field '\(id)'")
  }

  /// Leaves out the value of `key`, which is past a limit.
  public mutating func leaveOut(_ key: Key, of id: FieldID) { leftOut.append("\(key) of the field '\(id)'") }

  /// Completes the model with what was saved beside the fields.
  /// - Throws: `ModelError.invalid` if the parts do not fit each other.
  public func finish(_ state: SavedState) throws(ModelError) {
    var linked = fields
    for (id, field) in fields {
      guard let saved = field.parent else { continue }
      let parent = present(saved)
      linked[id]?.parent = parent
      guard let parent else { continue }
      guard linked[parent] != nil else {
        throw .invalid("the saved field '\(id)' has the parent '\(parent)', which does not exist")
      }
      linked[parent]?.children.insert(id)
    }
    for id in linked.keys {
      var depth = 1
      var next = linked[id]?.parent
      while let parent = next, depth <= Limits.fieldDepth {
        depth += 1
        next = linked[parent]?.parent
      }
      guard next == nil else { throw .invalid("the saved field '\(id)' is nested too deeply, or within itself") }
    }
    var state = state
    state.focusedField = state.focusedField.flatMap { present($0) }
    model.load(linked, state)
  }

  /// `id`, or the nearest field around it that is not left out.
  private func present(_ id: FieldID) -> FieldID? {
    var next: FieldID? = id
    var passed: Set<FieldID> = []
    while let id = next, let parent = parents[id], passed.insert(id).inserted { next = parent }
    return next
  }
}
