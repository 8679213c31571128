// What was not released when the process ends.
#pragma once

namespace cusim {

void installLeakReport();

}  // namespace cusim
