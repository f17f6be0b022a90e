/// One figure of a run, and the most or the least that it should be.
struct Figure {
  /// What a figure is held against.
  enum Bound {
    case atMost(Double)
    case atLeast(Double)
    case none

    func holds(_ value: Double) -> Bool {
      switch self {
      case .atMost(let limit): value <= limit
      case .atLeast(let limit): value >= limit
      case .none: true
      }
    }

    var text: String {
      switch self {
      case .atMost(let limit): "≤ \(limit)"
      case .atLeast(let limit): "≥ \(limit)"
      case .none: ""
      }
    }
  }

  let name: String
  let value: Double
  let unit: String
  let bound: Bound
}

/// The figures of a run, as a table for people and as JSON for programs.
struct Report {
  private(set) var figures: [Figure] = []

  mutating func add(_ name: String, _ value: Double, _ unit: String, _ bound: Figure.Bound = .none) {
    let figure = Figure(name: name, value: value, unit: unit, bound: bound)
    figures.append(figure)
    print(Report.line(figure))
  }

  private static func line(_ figure: Figure) -> String {
    let verdict = figure.bound.text.isEmpty ? "" : figure.bound.holds(figure.value) ? "ok" : "MISSED"
    return pad(figure.name, 58) + pad(rounded(figure.value) + " " + figure.unit, 18) + pad(figure.bound.text, 10)
      + verdict
  }

  private static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  private static func rounded(_ value: Double) -> String {
    value.isFinite ? String((value * 1000).rounded() / 1000) : "-"
  }

  /// One object by the figures' names.
  var json: String {
    let entries = figures.filter(\.value.isFinite).map { figure in
      "  \"\(figure.name)\": {\"value\": \(figure.value), \"unit\": \"\(figure.unit)\", "
        + "\"reached\": \(figure.bound.holds(figure.value))}"
    }
    return "{\n" + entries.joined(separator: ",\n") + "\n}"
  }
}
