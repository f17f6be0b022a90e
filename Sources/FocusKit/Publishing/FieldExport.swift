internal import DBus
internal import DBusTypes
internal import EventLoop
internal import FocusClient
internal import FocusContract

/// From a field as the program declared it to fields that the worker publishes, and back: changes are followed until the
/// field is removed.
final class FieldExport {
  private let letters: Worker.Letters
  private let owners: Owners
  /// What ends following the values of a field, by its number.
  private var cancellations: [UInt64: [@Sendable () -> Void]] = [:]

  private static let sceneBit: UInt64 = 1 << 63

  init(_ letters: Worker.Letters, _ owners: Owners) {
    self.letters = letters
    self.owners = owners
  }

  /// The fields that stand for `definition`: values for its whole scene are a field of their own within it.
  func descriptions(of definition: FieldDefinition) -> [FieldDescription] {
    let number = definition.number
    var field = description(number, of: definition, path: "field")
    field.id = definition.id
    field.parent = definition.parent
    publish(definition.values, &field)
    if let focus = definition.focus {
      field.focus = FieldFocus(isWanted: focus.isWanted, set: focus.set)
      let letters = letters
      let cancel = focus.follow {
        letters.post { worker in
          focus.acknowledge()
          worker.fields.focusStateChanged(number)
        }
      }
      cancellations[number, default: []].append(cancel)
    }
    guard !definition.sceneValues.isEmpty else { return [field] }
    var scene = description(number | FieldExport.sceneBit, of: definition, path: "scene")
    scene.id = definition.id.isEmpty ? "" : definition.id + "_scene"
    scene.parent = number
    scene.isSceneScoped = true
    publish(definition.sceneValues, &scene)
    return [field, scene]
  }

  /// Follows the values of the field `number` no longer.
  func end(_ number: UInt64) {
    for cancel in cancellations.removeValue(forKey: number) ?? [] { cancel() }
  }

  private func description(_ number: UInt64, of definition: FieldDefinition, path: String) -> FieldDescription {
    var description = FieldDescription(
      number: number, group: definition.number,
      objectPath: ObjectPath(known: "/org/focusd/FocusKit/\(path)\(definition.number)"))
    description.label = definition.label
    description.isSensitive = definition.isSensitive
    return description
  }

  private func publish(_ publications: [Publication], _ field: inout FieldDescription) {
    for publication in publications {
      do {
        let key = try Key(publication.name)
        switch publication.content {
        case .property(let property): field.properties[key] = exported(property, key, field)
        case .command(let command): field.commands[key] = exported(command)
        case .unsupported(let type):
          throw FocusError("'\(publication.name)' is of type '\(type)', which D-Bus cannot represent")
        }
      } catch {
        let error = FocusError(any: error)
        letters.post { $0.report(error) }
      }
    }
  }

  private func exported(_ property: PublishedProperty, _ key: Key, _ field: FieldDescription) -> FieldProperty {
    let (name, owners, letters) = (key.description, owners, letters)
    let source = PropertySource(property, field.number, key, letters, owners.post(property.isolation))
    cancellations[field.group, default: []].append { source.end() }
    return FieldProperty(
      type: property.type, tellsChanges: true,
      read: { handler in
        owners.read(name, property.isolation, { try source.read() }, late: { source.told($0) }) { result in
          // Whoever reads all values is not told why one is missing; the program is.
          if case .failure(let error) = result, error.name != .timeout {
            letters.post { $0.reportOnce(FocusError(error, of: key)) }
          }
          handler(result)
        }
      },
      write: property.set.map { set in
        { value, completion in
          owners.write(
            name, property.isolation,
            {
              try set(value)
              try source.tell()
            }, completion)
        }
      })
  }

  private func exported(_ command: PublishedCommand) -> FieldCommand {
    let letters = letters
    return FieldCommand(input: command.input, output: command.output) { arguments, completion in
      let completion = Completion(call: completion)
      Task {
        let result: Result<[DBusValue], DBusError>
        do {
          result = .success(try await command.run(arguments))
        } catch {
          result = .failure(FocusError(any: error).onBus)
        }
        letters.post { _ in completion.call(result) }
      }
    }
  }

  // Only letters, which the worker's own thread handles, call it.
  private struct Completion: @unchecked Sendable {
    let call: (Result<[DBusValue], DBusError>) -> Void
  }
}
