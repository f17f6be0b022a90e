internal import BridgeSupport
internal import DBus
internal import DBusTypes

/// What an element is asked of its actions.
extension ProgramBus {
  /// Asks for the names of the first actions, at most `ActionName.limit`; one that the program does not tell is empty.
  ///
  /// It asks for each by itself: all at once, GTK 3 tells them in the user's language, and before at-spi2-core 2.45 it crashes.
  /// If their number is that of `before`, the names are taken to be unchanged.
  func actions(
    of element: ElementReference, before: [String]? = nil, timeout: Duration = questionTimeout,
    _ handler: @escaping Handler<[String]>
  ) {
    get(element, AccessibilityNames.action, "NActions", timeout: timeout) { [weak self] result in
      guard let self else { return handler(.failure(.elementGone)) }
      switch result {
      case .success(.int32(let count)?):
        let count = min(max(0, Int(count)), ActionName.limit)
        if let before, before.count == count { return handler(.success(before)) }
        var names = Array(repeating: "", count: count)
        var late: DBusError?
        let answers = Answers { handler(late.map { .failure($0) } ?? .success(names)) }
        for index in names.indices {
          action(
            Int32(index), of: element, timeout: timeout,
            answers.expect { answer in
              switch answer {
              case .success(let name): names[index] = name
              case .failure(let error) where error.isLate: late = error
              case .failure: break
              }
            })
        }
        answers.finish()
      case .success: handler(.failure(.wrongAnswer))
      case .failure(let error): handler(.failure(error))
      }
    }
  }

  /// The most bytes of an action's name that are kept.
  private static var longestActionName: Int { 256 }

  /// Asks for the name of the action `index`.
  func action(
    _ index: Int32, of element: ElementReference, timeout: Duration = questionTimeout,
    _ handler: @escaping Handler<String>
  ) {
    call(element, AccessibilityNames.action, "GetName", [.int32(index)], timeout: timeout) { answer in
      // One too long for a command counts as one that has none.
      handler(
        answer.flatMap { values in
          guard let name = values.first?.basicText else { return .failure(.wrongAnswer) }
          return .success(name.utf8.count <= Self.longestActionName ? name : "")
        })
    }
  }
}
