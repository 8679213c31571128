#include "nvrtc/options.h"

#include <algorithm>
#include <map>

namespace cusim {

namespace {

enum Form { FLAG, BOOLEAN, VALUE };

// What has an effect only on a GPU: checked for its form.
const std::map<std::string, Form>& ignored() {
    static const std::map<std::string, Form> options = {
            {"--device-c", FLAG}, {"-dc", FLAG}, {"--device-w", FLAG}, {"-dw", FLAG},
            {"--relocatable-device-code", BOOLEAN}, {"-rdc", BOOLEAN},
            {"--device-debug", FLAG}, {"-G", FLAG}, {"--generate-line-info", FLAG}, {"-lineinfo", FLAG},
            {"--dopt", VALUE}, {"--ptxas-options", VALUE}, {"-Xptxas", VALUE},
            {"--maxrregcount", VALUE}, {"-maxrregcount", VALUE},
            {"--ftz", BOOLEAN}, {"-ftz", BOOLEAN}, {"--prec-sqrt", BOOLEAN}, {"-prec-sqrt", BOOLEAN},
            {"--prec-div", BOOLEAN}, {"-prec-div", BOOLEAN}, {"--use_fast_math", FLAG}, {"-use_fast_math", FLAG},
            {"--extra-device-vectorization", FLAG}, {"-extra-device-vectorization", FLAG},
            {"--disable-warnings", FLAG}, {"-w", FLAG}, {"--restrict", FLAG}, {"-restrict", FLAG},
            {"--device-as-default-execution-space", FLAG}, {"-default-device", FLAG},
            {"--device-int128", FLAG}, {"-device-int128", FLAG},
            {"--display-error-number", FLAG}, {"--no-display-error-number", FLAG},
            {"--diag-error", VALUE}, {"--diag-suppress", VALUE}, {"--diag-warn", VALUE},
            {"--builtin-move-forward", BOOLEAN}, {"--builtin-initializer-list", BOOLEAN},
            {"--no-source-include", FLAG}, {"--minimal", FLAG}, {"--split-compile", VALUE},
    };
    return options;
}

bool parseArchitecture(const std::string& value, Options* options) {
    bool binary = value.rfind("sm_", 0) == 0;
    if (!binary && value.rfind("compute_", 0) != 0) return false;
    std::string number = value.substr(value.find('_') + 1);
    if (!number.empty() && number.back() == 'a') number.pop_back();
    if (number.empty() || number.size() > 3 || !std::all_of(number.begin(), number.end(), isdigit)) return false;
    options->architecture = std::stoi(number);
    options->binary = binary;
    return std::count(architectures().begin(), architectures().end(), options->architecture) > 0;
}

bool parseOne(const std::string& option, Options* options) {
    size_t equals = option.find('=');
    std::string name = option.substr(0, equals);
    std::string value = equals == std::string::npos ? "" : option.substr(equals + 1);
    bool truth = value == "true" || value == "false";
    if (name == "--gpu-architecture" || name == "-arch") return parseArchitecture(value, options);
    if (name == "--define-macro") return options->preprocessor.push_back("-D" + value), !value.empty();
    if (name == "--undefine-macro") return options->preprocessor.push_back("-U" + value), !value.empty();
    if (name == "--include-path") return options->preprocessor.push_back("-I" + value), !value.empty();
    for (const char* prefix : {"-D", "-U", "-I"}) {
        if (option.rfind(prefix, 0) == 0) return options->preprocessor.push_back(option), option.size() > 2;
    }
    if (name == "--fmad" || name == "-fmad") return options->contract = value == "true", truth;
    if (name == "--std" || name == "-std") {
        if (value == "c++20") options->standard = value;  // older ones are compiled as C++17
        return value == "c++03" || value == "c++11" || value == "c++14" || value == "c++17" || value == "c++20";
    }
    auto known = ignored().find(name);
    if (known == ignored().end()) return false;
    return known->second == FLAG ? equals == std::string::npos : known->second == BOOLEAN ? truth : !value.empty();
}

}  // namespace

const std::vector<int>& architectures() {
    static const std::vector<int> all = {50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90};
    return all;
}

bool parseOptions(const std::vector<std::string>& given, Options* options, std::string* error) {
    for (const std::string& option : given) {
        if (parseOne(option, options)) continue;
        *error = "nvrtc: error: invalid value for option or unrecognized option: " + option + "\n";
        return false;
    }
    return true;
}

}  // namespace cusim
