internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import EventLoop
internal import FocusContract

/// From a field as the program declared it to fields that the worker publishes, and back: changes are followed until the
/// field is removed.
final class FieldExport {
  private let letters: Worker.Letters
  private let owners: Owners
  /// What follows the values of a field, by its number.
  private var sources: [UInt64: [Key: PropertySource]] = [:]
  /// The focus states that fields are joined to, each with what ends following it.
  private var joined: [UInt64: (focus: FieldDefinition.Focus, cancel: @Sendable () -> Void)] = [:]
  /// What keeps the writes and commands of each field in order.
  private var queues: [UInt64: FieldQueue] = [:]
  /// The fields that were described anew, as they were last.
  private var amended: [UInt64: FieldDescription] = [:]

  private static let sceneBit: UInt64 = 1 << 63

  init(_ letters: Worker.Letters, _ owners: Owners) {
    self.letters = letters
    self.owners = owners
  }

  /// The number of the field that publishes the values of the field `number` for its whole scene.
  static func sceneNumber(_ number: UInt64) -> UInt64 { number | sceneBit }

  /// The fields that stand for `definition`: values for its whole scene are a field of their own within it.
  func descriptions(of definition: FieldDefinition) -> [FieldDescription] {
    var field = description(definition.number, of: definition, path: "field")
    field.id = definition.id
    field.parent = definition.parent
    publish(definition.values, &field)
    if let focus = definition.focus { join(focus, &field) }
    return [field] + (definition.sceneValues.isEmpty ? [] : [scene(definition, definition.sceneValues)])
  }

  private static let noFocus = DBusError(.accessDenied, "the field takes no focus from other programs")

  private func scene(_ definition: FieldDefinition, _ publications: [Publication]) -> FieldDescription {
    var scene = description(Self.sceneNumber(definition.number), of: definition, path: "scene")
    let id = definition.id + "_scene"
    // The daemon finds one where that is too long.
    scene.id = definition.id.isEmpty || id.utf8.count > FieldID.maximumLength ? "" : id
    scene.parent = definition.number
    scene.isSceneScoped = true
    publish(publications, &scene)
    return scene
  }

  private func join(_ focus: FieldDefinition.Focus, _ field: inout FieldDescription) {
    field.focus = FieldFocus(isWanted: focus.isWanted, set: focus.set)
    field.requests = .granted
    leave(field.number)
    let (number, letters) = (field.number, letters)
    let cancel = focus.follow {
      letters.post { worker in
        focus.acknowledge()
        worker.fields.focusStateChanged(number)
      }
    }
    joined[number] = (focus, cancel)
  }

  /// Ends the joining of the field `number` to a focus state, which does not say any more that the field has focus.
  private func leave(_ number: UInt64) {
    guard let (focus, cancel) = joined.removeValue(forKey: number) else { return }
    cancel()
    guard focus.isWanted() else { return }
    // Another field of the same value has taken the place of this one.
    let isTaken = joined.values.contains { $0.focus.state == focus.state && $0.focus.isWanted() }
    if !isTaken { focus.set(false) }
  }

  /// Publishes more of a field that was added, to its scene or for itself alone.
  func publish(
    _ publications: [Publication], toScene: Bool, of definition: FieldDefinition, _ fields: FieldPublisher
  ) {
    let number = toScene ? Self.sceneNumber(definition.number) : definition.number
    if fields.contains(number) {
      amend(number, fields) { publish(publications, &$0) }
    } else if publications.contains(where: \.isAnything) {
      fields.add(scene(definition, publications))
    }
  }

  /// Joins a field that was added to a focus state.
  func join(_ focus: FieldDefinition.Focus, number: UInt64, _ fields: FieldPublisher) {
    amend(number, fields) { join(focus, &$0) }
  }

  /// Describes a field anew; until the last change of it is told, what it publishes is as before.
  private func amend(_ number: UInt64, _ fields: FieldPublisher, _ change: (inout FieldDescription) -> Void) {
    guard var field = amended[number] ?? fields.description(of: number) else { return }
    change(&field)
    amended[number] = field
    fields.describe(field)
  }

  /// Follows nothing of the field `number` any more.
  func end(_ number: UInt64) {
    for number in [number, Self.sceneNumber(number)] {
      for (_, source) in sources.removeValue(forKey: number) ?? [:] { source.end() }
      (amended[number], queues[number]) = (nil, nil)
    }
    leave(number)
  }

  private func description(_ number: UInt64, of definition: FieldDefinition, path: String) -> FieldDescription {
    var description = FieldDescription(
      number: number, group: definition.number,
      objectPath: ObjectPath(known: "/org/focusd/FocusKit/\(path)\(definition.number)"))
    description.label = definition.label
    description.isSensitive = definition.isSensitive
    description.disabled = Set(definition.disabled.compactMap { try? Key($0) })
    return description
  }

  private func publish(_ publications: [Publication], _ field: inout FieldDescription) {
    let queue = queues[field.number] ?? FieldQueue()
    queues[field.number] = queue
    for publication in publications {
      do {
        let key = try Key(publication.name)
        sources[field.number]?.removeValue(forKey: key)?.end()
        (field.properties[key], field.commands[key]) = (nil, nil)
        switch publication.content {
        case .nothing: break
        case .property(let property):
          try Self.check([property.type], of: key)
          field.properties[key] = exported(property, key, field, queue)
        case .command(let command):
          try Self.check(command.input + command.output, of: key)
          field.commands[key] = exported(command, key, queue)
        case .unsupported(let type):
          let remedy =
            type.hasPrefix("@MainActor ()")
            ? "write '@MainActor @Sendable', as later language modes do"
            : type.contains("->")
              ? "publish a closure with arguments or a result with 'command(_:_:)'"
              : "make its type 'DBusRepresentable', or publish one that is, such as '[UInt8]' for bytes"
          throw FocusError("'\(publication.name)' is of type '\(type)', which D-Bus cannot represent; \(remedy)")
        }
      } catch {
        let error = FocusError(any: error)
        letters.post { $0.report(error) }
      }
    }
    guard field.focus == nil else { return }
    field.requests = .granted
    // A field that shows nothing yet may show something later, so that it needs an object.
    if !field.showsAnything { field.requests = .asked { $0(.failure(Self.noFocus)) } }
  }

  /// Checks that a signature can name `types`: a dictionary's keys are basic values.
  private static func check(_ types: [DBusType], of key: Key) throws {
    for type in types {
      do { _ = try Signature([type]) } catch {
        throw FocusError("'\(key)' has a value of type '\(type)', which D-Bus cannot represent: \(error)")
      }
    }
  }

  private func exported(
    _ property: PublishedProperty, _ key: Key, _ field: FieldDescription, _ queue: FieldQueue
  ) -> FieldProperty {
    let (name, owners, letters) = (key.description, owners, letters)
    let source = PropertySource(property, field.number, key, letters, owners.post(property.isolation))
    sources[field.number, default: [:]][key] = source
    return FieldProperty(
      type: property.type, tellsChanges: true,
      read: { handler in
        owners.read(
          name, property.isolation, of: ObjectIdentifier(source), { try source.read() },
          late: { source.told(.success($0)) }
        ) { result in
          guard case .failure(let error) = result, error.name != .timeout else { return handler(result) }
          // Whoever reads all values is not told why one is missing; the program is.
          letters.post { $0.reportOnce(FocusError(error, of: key)) }
          // To the daemon any other error means that it may still have the value before.
          handler(.failure(DBusError(.unknownProperty, error.message)))
        }
      },
      write: property.set.map { set in
        { value, completion in
          owners.write(
            name, property.isolation, queue,
            {
              try set(value)
              try source.tell()
            }, completion)
        }
      })
  }

  private func exported(_ command: PublishedCommand, _ key: Key, _ queue: FieldQueue) -> FieldCommand {
    let (name, owners) = (key.description, owners)
    return FieldCommand(input: command.input, output: command.output) { arguments, completion in
      owners.run(name, command, arguments, queue) { result in
        completion(result.mapError { FocusError(any: $0).onBus })
      }
    }
  }
}
